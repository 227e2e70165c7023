import type { ClusterTrustBundle } from '../../kinds/certificates/v1alpha1.js';
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
import { grantsNothing } from '../../core/model/unchanged.js';

const GROUP = 'certificates.orchestrator.io';
const REQUESTS = 'certificatesigningrequests';

const BUNDLES = 'clustertrustbundles';

/** The right on a signer that a write to a subresource of a request, or to a bundle, needs. */
type Verb = 'approve' | 'sign' | 'attest';

const signersOf = (name: string): readonly string[] => [name, `${name.slice(0, name.indexOf('/'))}/*`];

/** Whether the sender has the right on a signer, or on all signers of its domain. */
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

/** Throws 403 for a user who lacks a right on a signer. `why`: what the user may not do. */
function refuse({ naming }: Pick<Host, 'naming'>, resource: string, name: string, why: string, signer: string): never {
  const group = naming.group(GROUP);
  throw new Refusal(
    'Forbidden',
    `${qualifyResource({ group, resource })} ${JSON.stringify(name)} is forbidden: user not permitted to ${why} ` +
      JSON.stringify(signer),
    { name, group, kind: resource },
  );
}

/** Throws 403 for writes to this subresource by users without the right `verb` on the signer. */
function permission(
  host: Pick<Host<'pool'>, 'at' | 'naming'>,
  subresource: string,
  verb: 'approve' | 'sign',
): Validator {
  return {
    on: { groups: [GROUP], resources: [REQUESTS], subresources: [subresource], operations: ['UPDATE'] },
    async validate(change, after) {
      const old = change.old as Frozen<CertificateSigningRequest> | undefined;
      if (verb === 'sign' && !isIssue(old, after as Frozen<CertificateSigningRequest> | undefined)) return [];
      const signer = old?.spec.signerName ?? '';
      if (await isPermitted(host.at(authorizer), change, verb, signer)) return [];
      return refuse(host, REQUESTS, change.target.name, `${verb} requests with signerName`, signer);
    },
  };
}

/** Throws 403 for writes to the bundles of a signer by users that may not decide which CAs it trusts. */
const permissionToAttest = (host: Pick<Host<'pool'>, 'at' | 'naming'>): Validator => ({
  on: { groups: [GROUP], resources: [BUNDLES], operations: ['CREATE', 'UPDATE'] },
  async validate(change, after) {
    const object = after as Frozen<ClusterTrustBundle> | undefined;
    // The validation of the kind refuses a change of the signer.
    const signer = object?.spec.signerName ?? '';
    if (!object || signer === '' || grantsNothing(change.old, object)) return [];
    if (await isPermitted(host.at(authorizer), change, 'attest', signer)) return [];
    return refuse(host, BUNDLES, change.target.name, 'attest for signerName', signer);
  },
});

const plugin = (name: string, subresource: string, verb: 'approve' | 'sign'): Plugin<null> =>
  definePlugin({
    name,
    parse: () => null,
    contribute: () => [validator.of(host => permission(host, subresource, verb))],
  });

/**
 * A user who decides about certificate signing requests needs the verb `approve` on their signer, besides the
 * permission to write the subresource.
 */
export const approval = plugin('certificate-approval', 'approval', 'approve');
/** A user who writes the trust bundles of a signer needs the verb `attest` on it. */
export const attestation = definePlugin({
  name: 'trust-bundle-attestation',
  parse: () => null,
  contribute: () => [validator.of(permissionToAttest)],
}) satisfies Plugin<null>;
/**
 * A user who issues the certificates needs the verb `sign` on the signer, besides the permission to write the
 * subresource.
 */
export const signing = plugin('certificate-signing', 'status', 'sign');
