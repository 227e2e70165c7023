import type { CertificateSigningRequest } from '../../kinds/certificates/v1.js';
import {
  definePlugin,
  type Frozen,
  type Host,
  type Plugin,
  qualifyResource,
  Refusal,
  type Validator,
  validator,
} from '../../core/api/index.js';
import { parseCertificateRequest } from '../../core/services/pki/certificateRequest.js';
import { MASTERS_GROUP } from '../../core/model/wellKnown/senders.js';

const GROUP = 'certificates.orchestrator.io';
const REQUESTS = 'certificatesigningrequests';
const CLIENT_SIGNER = 'orchestrator.io/orchestrator-apiserver-client';

/** Returns why a request must not be signed by the signer for clients; undefined if it may be. */
function faultOf({ spec }: Frozen<CertificateSigningRequest>, signer: string): string | undefined {
  try {
    const { organizations } = parseCertificateRequest(spec.request ?? '');
    const isOfMasters = organizations.includes(MASTERS_GROUP);
    return isOfMasters ? `use of ${signer} signer with ${MASTERS_GROUP} group is not allowed` : undefined;
  } catch (thrown) {
    return `failed to parse CSR: ${(thrown as Error).message}`;
  }
}

/** Throws 403 for a new request for a client certificate of the group that may do everything. */
function restriction({ naming }: Pick<Host<'pool'>, 'naming'>): Validator {
  const signer = naming.component(CLIENT_SIGNER);
  return {
    on: { groups: [GROUP], resources: [REQUESTS], operations: ['CREATE'] },
    validate({ target }, after) {
      const object = after as Frozen<CertificateSigningRequest> | undefined;
      if (object?.spec.signerName !== signer) return [];
      const fault = faultOf(object, signer);
      if (fault === undefined) return [];
      const group = naming.group(GROUP);
      const name = object.metadata.name ?? target.name;
      throw new Refusal(
        'Forbidden',
        `${qualifyResource({ group, resource: REQUESTS })} ${JSON.stringify(name)} is forbidden: ${fault}`,
        { name, group, kind: REQUESTS },
      );
    },
  };
}

/** Nobody can request a certificate of the group that may do everything. */
export default definePlugin({
  name: 'certificate-subject',
  parse: () => null,
  contribute: () => [validator.of(restriction)],
}) satisfies Plugin<null>;
