import type { Bytes } from '../../../../core/model/scalars.js';
import type { CertificateSigningRequest } from '../../../../kinds/certificates/v1.js';
import { X509Certificate } from 'node:crypto';
import { requestComplaint } from './signature.js';
import { dns1123Label, dns1123Subdomain } from '../../../../core/model/names.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  Verbatim,
  notSupported,
  required,
  tooLong,
  type Violation,
} from '../../../../core/model/refusal.js';

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

const MOST_DOMAIN = 253;

/** A domain, a slash, and a path of a resource name, a dot and a label. */
const MOST_SIGNER = 571;

/** A block begins a line, as for upstream. */
const BLOCK = /(?<![^\n])-----BEGIN ([^-\n]+)-----\s([^-]*)-----END \1-----/g;

/** Blocks of a PEM text (RFC 7468); text between them is ignored. */
function* blocksOf(base64: string): Generator<{ readonly label: string; readonly content: string }> {
  const pem = Buffer.from(base64, 'base64').toString('latin1');
  for (const [, label, content] of pem.matchAll(BLOCK)) yield { label: label!, content: content! };
}

/** The violations of the first invalid label of a segment. */
function validateLabels(field: string, segment: string, check: (label: string) => string[]): Violation[] {
  for (const label of segment.split('.')) {
    const found = check(label).map(why => invalid(field, segment, `validating label ${JSON.stringify(label)}: ${why}`));
    if (found.length > 0) return found;
  }
  return [];
}

/** Checks that the name of a signer is a domain and a path: `example.com/signer`. */
function validateSigner(field: string, name: string): Violation[] {
  if (name === '') return [required(field)];
  const [domain = '', path = '', ...more] = name.split('/');
  if (more.length > 0 || !name.includes('/'))
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  return [
    ...(domain.length > MOST_DOMAIN ? [tooLong(field, MOST_DOMAIN)] : []),
    ...validateLabels(field, domain, dns1123Label),
    ...(domain.includes('.')
      ? []
      : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]),
    ...validateLabels(field, path, dns1123Subdomain),
    ...(name.length > MOST_SIGNER ? [tooLong(field, MOST_SIGNER)] : []),
  ];
}

function validateUsages(usages: readonly string[]): Violation[] {
  if (usages.length === 0) return [required('spec.usages')];
  return usages.flatMap((usage, index) => [
    ...(KNOWN_USAGES.has(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)]),
    ...(usages.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : []),
  ]);
}

/** Formats bytes as Go prints them. */
function goBytes(base64: null | Bytes): Verbatim {
  if (typeof base64 !== 'string') return new Verbatim('[]byte(nil)');
  return new Verbatim(
    `[]byte{${Array.from(Buffer.from(base64, 'base64'), byte => `0x${byte.toString(16)}`).join(', ')}}`,
  );
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of a block, without its headers; undefined where it holds something else than base64. */
function bytesOf(content: string): Buffer | undefined {
  const body = content.includes(':') ? content.slice(content.search(/\r?\n\r?\n/)) : content;
  const base64 = body.replace(/\s/g, '');
  return BASE64.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

/** Why a text is not a request in PEM that is signed with its own key; undefined if it is one. */
function pemComplaint(base64: string): string | undefined {
  const [first] = blocksOf(base64);
  const der = first?.label === 'CERTIFICATE REQUEST' ? bytesOf(first.content) : undefined;
  return der ? requestComplaint(der) : 'PEM block type must be CERTIFICATE REQUEST';
}

/**
 * Violations of a new request: the PKCS #10 request in PEM (RFC 7468, section 7) and its signature, the signer, the
 * usages and the duration.
 */
export function validateRequest(object: CertificateSigningRequest, legacySigner: string): Violation[] {
  const wanted = object.spec;
  const signer = wanted.signerName;
  const seconds = wanted.expirationSeconds;
  const complaint = pemComplaint(wanted.request ?? '');
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

function isCertificate(content: string): boolean {
  try {
    return Boolean(new X509Certificate(Buffer.from(content, 'base64')));
  } catch {
    return false;
  }
}

/** Why a text is not a chain of certificates in PEM; undefined if it is valid. */
function certificateComplaint(base64: string): string | undefined {
  let blocks = 0;
  for (const { label, content } of blocksOf(base64)) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    if (content.includes(':')) return 'no PEM block headers are permitted';
    if (content.trim() === '') return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(content)) return 'x509: malformed certificate';
    blocks++;
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
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
