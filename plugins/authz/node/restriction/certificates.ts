import type { Frozen, Naming } from '../../../../core/api/index.js';
import type { CertificateSigningRequest } from '../../../../kinds/certificates/v1.js';
import { parseCertificateRequest } from '../../../../core/services/pki/certificateRequest.js';
import { forbid, type Restriction } from './forbid.js';

/** The group of certificate signing requests. */
export const CERTIFICATES = 'certificates.orchestrator.io';
const SIGNERS = ['orchestrator.io/node-agent-serving', 'orchestrator.io/orchestrator-apiserver-client-node-agent'];

/** The common name in a request. Refuses a request that cannot be parsed. */
function commonNameOf(restricted: Parameters<Restriction>[0], request: string): string {
  try {
    return parseCertificateRequest(request).commonName;
  } catch (thrown) {
    return forbid(restricted, `unable to parse csr: ${(thrown as Error).message}`);
  }
}

/** Requests for certificates of nodes are for the node itself. */
export function restrictRequest(naming: Naming): Restriction {
  const signers = new Set(SIGNERS.map(naming.component));
  return restricted => {
    const { change, object } = restricted;
    if (change.operation !== 'CREATE' || change.target.subresource !== '') return;
    const { request, signerName } = (object as Frozen<CertificateSigningRequest>).spec;
    if (!signers.has(signerName)) return;
    if (commonNameOf(restricted, request ?? '') !== change.user.name)
      forbid(restricted, `can only create a node CSR with CN=${change.user.name}`);
  };
}
