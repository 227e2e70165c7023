import { type Naming, stringAt } from '../../../../core/api/index.js';
import { parseCertificateRequest } from '../../../../core/pki/certificateRequest.js';
import { forbid, type Restriction } from './forbid.js';

/** The group of certificate signing requests. */
export const CERTIFICATES = 'certificates.orchestrator.io';
const SIGNERS = ['orchestrator.io/node-agent-serving', 'orchestrator.io/orchestrator-apiserver-client-node-agent'];

/** The common name in a request; undefined if it cannot be parsed. */
const commonNameOf = (request: string): Promise<string | undefined> =>
  parseCertificateRequest(request).then(
    ({ commonName }) => commonName,
    () => undefined,
  );

/** Requests for certificates of nodes are for the node itself. */
export function restrictRequest(naming: Naming): Restriction {
  const signers = new Set(SIGNERS.map(naming.component));
  return async restricted => {
    const { change, object } = restricted;
    if (change.operation !== 'CREATE' || change.target.subresource !== '') return;
    if (!signers.has(stringAt(object, 'spec', 'signerName'))) return;
    const name = await commonNameOf(stringAt(object, 'spec', 'request'));
    if (name === undefined) forbid(restricted, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
    if (name !== change.user.name) forbid(restricted, `can only create a node CSR with CN=${change.user.name}`);
  };
}
