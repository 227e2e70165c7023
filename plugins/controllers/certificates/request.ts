import type { Frozen } from '../../../core/api/index.js';
import type { CertificateSigningRequest } from '../../../kinds/certificates/v1.js';
import {
  Malformed,
  parseCertificateRequest,
  type RequestedCertificate,
} from '../../../core/services/pki/certificateRequest.js';

/** Storage name of certificate signing requests. */
export const REQUESTS = 'certificates.orchestrator.io/certificatesigningrequests';

const CLIENT_SIGNER = 'orchestrator.io/orchestrator-apiserver-client';
/** The signer of client certificates of nodes, in neutral names. */
export const NODE_CLIENT_SIGNER = 'orchestrator.io/orchestrator-apiserver-client-node-agent';
const NODE_SERVING_SIGNER = 'orchestrator.io/node-agent-serving';

/** The server sets the times of new conditions. */
export const NO_TIMES = { lastUpdateTime: null, lastTransitionTime: null };

/** The purpose of a request, or why it cannot be parsed. */
export function requestedBy(object: Frozen<CertificateSigningRequest>): RequestedCertificate | Malformed {
  try {
    return parseCertificateRequest(object.spec.request ?? '');
  } catch (thrown) {
    if (thrown instanceof Malformed) return thrown;
    throw thrown;
  }
}

/** Whether a request has a condition of this type that holds. */
export const hasCondition = (object: Frozen<CertificateSigningRequest>, type: string): boolean =>
  (object.status?.conditions ?? []).some(one => one.type === type && one.status !== 'False');

const NODE_USER = 'system:node:';
const NODES = 'system:nodes';
const SIGNING = 'digital signature';
const ENCIPHERMENT = 'key encipherment';

/** Whether the usages are exactly the required ones, or these and the optional one. */
function hasUsages(object: Frozen<CertificateSigningRequest>, required: readonly string[], optional: string): boolean {
  const usages = new Set(object.spec.usages ?? []);
  usages.delete(optional);
  return usages.size === required.length && required.every(usage => usages.has(usage));
}

const isOfNode = ({ commonName, organizations }: RequestedCertificate): string | undefined => {
  if (organizations.length !== 1 || organizations[0] !== NODES) return 'subject organization is not system:nodes';
  return commonName.startsWith(NODE_USER) ? undefined : 'subject common name does not begin with system:node:';
};

/** Returns why a request is not for a client certificate of a node; undefined if it is. */
export function checkNodeClient(
  object: Frozen<CertificateSigningRequest>,
  wanted: RequestedCertificate,
): string | undefined {
  const [name] = wanted.names;
  if (name) return `${LABELS[name.type]} subjectAltNames are not allowed`;
  const why = isOfNode(wanted);
  if (why) return why;
  if (!hasUsages(object, [SIGNING, 'client auth'], ENCIPHERMENT)) return 'usages did not match {client auth}';
  return undefined;
}

const LABELS = { dns: 'DNS', ip: 'IP', email: 'Email', url: 'URI' } as const;

/** Returns why a request is not for a serving certificate of a node; undefined if it is. */
function checkNodeServing(object: Frozen<CertificateSigningRequest>, wanted: RequestedCertificate): string | undefined {
  const why = isOfNode(wanted);
  if (why) return why;
  if (!wanted.names.some(({ type }) => type === 'dns' || type === 'ip')) return 'DNS or IP subjectAltName is required';
  const other = wanted.names.find(({ type }) => type !== 'dns' && type !== 'ip');
  if (other) return `${LABELS[other.type]} subjectAltNames are not allowed`;
  if (!hasUsages(object, [SIGNING, 'server auth'], ENCIPHERMENT)) return 'usages did not match {server auth}';
  return undefined;
}

function checkClient(object: Frozen<CertificateSigningRequest>): string | undefined {
  const usages = object.spec.usages ?? [];
  const others = usages.filter(usage => ![SIGNING, ENCIPHERMENT, 'client auth'].includes(usage));
  if (usages.includes('client auth') && others.length === 0) return undefined;
  return 'usages did not match {client auth}, or {client auth, digital signature, key encipherment}';
}

/** Requirements of each signer on a request; a signer that is not listed requires nothing. */
export const SIGNER_CHECKS: ReadonlyMap<
  string,
  (object: Frozen<CertificateSigningRequest>, wanted: RequestedCertificate) => string | undefined
> = new Map([
  [CLIENT_SIGNER, checkClient],
  [NODE_CLIENT_SIGNER, checkNodeClient],
  [NODE_SERVING_SIGNER, checkNodeServing],
]);
