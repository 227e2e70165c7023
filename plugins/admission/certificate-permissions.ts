import type { CertificateSigningRequest } from '../../kinds/certificates/v1.js';
import {
  type Authorization,
  authorizer,
  type Change,
  definePlugin,
  type Frozen,
  type Host,
  isSemanticallyEqual,
  type Plugin,
  qualifyResource,
  Refusal,
  type ResourceTarget,
  type Validator,
  validator,
} from '../../core/api/index.js';

const GROUP = 'certificates.orchestrator.io';
const REQUESTS = 'certificatesigningrequests';

/** What a write to a subresource of a request needs on its signer. */
type Verb = 'approve' | 'sign';

const signersOf = (name: string): readonly string[] => [name, `${name.slice(0, name.indexOf('/'))}/*`];

/** Whether the sender may do this with requests for a signer: for this one, or for all of its domain. */
async function isPermitted(authorization: Authorization, { user }: Change, verb: Verb, signer: string) {
  for (const name of signersOf(signer)) {
    const target: ResourceTarget = {
      is: 'resource',
      verb,
      group: GROUP,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    };
    if ((await authorization.authorize(user, target)).decision.is === 'allow') return true;
  }
  return false;
}

/** Whether a write to the status issues a certificate, or reports that there will be none. */
const isIssue = (
  old: Frozen<CertificateSigningRequest> | undefined,
  object: Frozen<CertificateSigningRequest> | undefined,
): boolean =>
  !isSemanticallyEqual(old?.status?.certificate, object?.status?.certificate) ||
  !isSemanticallyEqual(old?.status?.conditions, object?.status?.conditions);

/** Throws 403 for writes to this subresource by those who may not do this with requests for the signer. */
function permission(host: Pick<Host<'request'>, 'at' | 'naming'>, subresource: string, verb: Verb): Validator {
  return {
    on: { groups: [GROUP], resources: [REQUESTS], subresources: [subresource], operations: ['UPDATE'] },
    async validate(change, after) {
      const old = change.old as Frozen<CertificateSigningRequest> | undefined;
      if (verb === 'sign' && !isIssue(old, after as Frozen<CertificateSigningRequest> | undefined)) return [];
      const signer = old?.spec.signerName ?? '';
      if (await isPermitted(host.at(authorizer), change, verb, signer)) return [];
      const [group, name] = [host.naming.group(GROUP), change.target.name];
      throw new Refusal(
        'Forbidden',
        `${qualifyResource({ group, resource: REQUESTS })} ${JSON.stringify(name)} is forbidden: user not permitted to ` +
          `${verb} requests with signerName ${JSON.stringify(signer)}`,
        { name, group, kind: REQUESTS },
      );
    },
  };
}

const plugin = (name: string, subresource: string, verb: Verb): Plugin<null> =>
  definePlugin({
    name,
    parse: () => null,
    contribute: () => [validator.of(host => permission(host, subresource, verb))],
  });

/**
 * Who decides about certificate signing requests needs the verb `approve` on their signer, beside the permission to
 * write the subresource.
 */
export const approval = plugin('certificate-approval', 'approval', 'approve');
/** Who issues the certificates needs the verb `sign` on the signer, beside the permission to write the subresource. */
export const signing = plugin('certificate-signing', 'status', 'sign');
