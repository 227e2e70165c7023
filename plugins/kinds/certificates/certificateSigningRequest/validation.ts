import type { Bytes } from '../../../../core/model/scalars.js';
import type { CertificateSigningRequest } from '../../../../kinds/certificates/v1.js';
import { type PemBlock, pemBlocks, readCertificate } from '../../../../core/services/pki/certificateNames.js';
import { Malformed, parseCertificateRequest } from '../../../../core/services/pki/certificateRequest.js';
import { findRepeated } from '../../shared/values/repeated.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  Verbatim,
  notSupported,
  required,
  type Violation,
} from '../../../../core/model/refusal.js';
import { validateSigner } from '../../shared/signerName.js';

/** Key usages and extended key usages by name (RFC 5280, sections 4.2.1.3 and 4.2.1.12). */
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const KNOWN_USAGES: ReadonlySet<string> = new Set(USAGES);

/** Ten minutes: shorter certificates would have to be renewed too often. */
const LEAST_SECONDS = 600;

function validateUsages(usages: readonly string[]): Violation[] {
  if (usages.length === 0) return [required('spec.usages')];
  const repeated = findRepeated(usages);
  return usages.flatMap((usage, index) => [
    ...(KNOWN_USAGES.has(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)]),
    ...(repeated[index] ? [duplicate(`spec.usages[${index}]`, usage)] : []),
  ]);
}

/** Formats bytes as Go prints them. */
function goBytes(base64: null | Bytes): Verbatim {
  if (typeof base64 !== 'string') return new Verbatim('[]byte(nil)');
  return new Verbatim(
    `[]byte{${Array.from(Buffer.from(base64, 'base64'), byte => `0x${byte.toString(16)}`).join(', ')}}`,
  );
}

/** Returns why reading fails; undefined if it does not. */
function complaintOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Malformed) return thrown.message;
    throw thrown;
  }
}

/**
 * Violations of a new request: the PKCS #10 request in PEM (RFC 7468, section 7) and its signature, the signer, the
 * usages and the duration.
 */
export function validateRequest(object: CertificateSigningRequest, legacySigner: string): Violation[] {
  const wanted = object.spec;
  const signer = wanted.signerName;
  const seconds = wanted.expirationSeconds;
  const complaint = complaintOf(() => parseCertificateRequest(wanted.request ?? ''));
  return [
    ...(complaint === undefined ? [] : [invalid('spec.request', goBytes(wanted.request), complaint)]),
    ...validateUsages(wanted.usages ?? []),
    ...(signer === legacySigner
      ? [invalid('spec.signerName', signer, 'the legacy signerName is not allowed via this API version')]
      : validateSigner('spec.signerName', signer)),
    ...(seconds !== undefined && seconds < LEAST_SECONDS
      ? [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')]
      : []),
  ];
}

const DECISIONS = ['Approved', 'Denied'];

const LASTING = [...DECISIONS, 'Failed'];

const ANY_STATUS = ['False', 'True', 'Unknown'];

function validateStatus(field: string, type: string, status: string): Violation[] {
  if (status === '') return [required(field)];
  const allowed = LASTING.includes(type) ? ['True'] : ANY_STATUS;
  return allowed.includes(status) ? [] : [notSupported(field, status, allowed)];
}

/** Types of the conditions, in order. */
const typesOf = (object: CertificateSigningRequest): string[] =>
  (object.status?.conditions ?? []).map(given => given.type);

function validateConditions(object: CertificateSigningRequest): Violation[] {
  const types = typesOf(object);
  return (object.status?.conditions ?? []).flatMap((condition, index) => {
    const field = `status.conditions[${index}]`;
    const type = types[index]!;
    const before = types.slice(0, index);
    const other = DECISIONS.includes(type) && before.some(earlier => earlier !== type && DECISIONS.includes(earlier));
    return [
      ...(type === '' ? [required(`${field}.type`)] : []),
      ...validateStatus(`${field}.status`, type, condition.status),
      ...(other ? [invalid(`${field}.type`, type, 'Approved and Denied conditions are mutually exclusive')] : []),
      ...(before.includes(type) ? [duplicate(`${field}.type`, type)] : []),
    ];
  });
}

/** Returns why a block is not a certificate; undefined if it is one. */
function blockComplaint({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
  if (hasHeaders) return 'no PEM block headers are permitted';
  if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
  return complaintOf(() => readCertificate(bytes));
}

/** Returns why a text is not a chain of certificates in PEM; undefined if it is valid. */
function certificateComplaint(base64: string): string | undefined {
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  return blocks.map(blockComplaint).find(complaint => complaint !== undefined);
}

const countConditions = (object: CertificateSigningRequest, type: string): number =>
  typesOf(object).filter(given => given === type).length;

/** Violations of any update: conditions must be valid, and decisions must not be removed. */
export function validateDecision(object: CertificateSigningRequest, old: CertificateSigningRequest): Violation[] {
  const removed = LASTING.filter(type => countConditions(object, type) < countConditions(old, type));
  return [
    ...validateConditions(object),
    ...removed.map(type =>
      forbiddenField('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`),
    ),
  ];
}

/** Violations of a write to the status: it must not contain decisions, and an issued certificate must not change. */
export function validateIssue(object: CertificateSigningRequest, old: CertificateSigningRequest): Violation[] {
  const added = DECISIONS.filter(type => countConditions(object, type) > countConditions(old, type));
  const certificate = object.status?.certificate ?? '';
  const before = old.status?.certificate ?? '';
  const shown = new Verbatim('"<certificate data>"');
  const complaint = certificate === '' || certificate === before ? undefined : certificateComplaint(certificate);
  return [
    ...validateDecision(object, old),
    ...(complaint ? [invalid('status.certificate', shown, complaint)] : []),
    ...added.map(type =>
      forbiddenField('status.conditions', `updates may not add a condition of type ${JSON.stringify(type)}`),
    ),
    ...(before !== '' && certificate !== before
      ? [forbiddenField('status.certificate', 'updates may not modify existing certificate content')]
      : []),
  ];
}
