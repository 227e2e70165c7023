import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1alpha1.js';
import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../kinds/admissionregistration/v1.js';
import {
  authorizer,
  type Change,
  definePlugin,
  type Frozen,
  type Host,
  type Informer,
  isSemanticallyEqual,
  type Plugin,
  type ResourceTarget,
  type User,
  type Validator,
  validator,
} from '../../../core/api/index.js';
import { goText } from '../../../core/model/text/goText.js';
import { forbiddenField, type Violation } from '../../../core/model/refusal.js';
import { grantsNothing } from '../../../core/model/unchanged.js';
import { MASTERS_GROUP } from '../../../core/model/wellKnown/senders.js';

const GROUP = 'admissionregistration.orchestrator.io';

type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
type Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

const paramKindOf = (policy: Frozen<Policy> | undefined): Frozen<ParamKind> | undefined => policy?.spec.paramKind;

type PolicyHost = Pick<Host<'pool'>, 'at' | 'informer' | 'kinds'>;
/** The resource that parameters are read from, as far as it is known: `*` stands for all. */
type Parameters = Pick<ResourceTarget, 'group' | 'version' | 'resource'>;

const ALL: Parameters = { group: '*', version: '*', resource: '*' };

/** A user as Go prints it in messages. */
const shownUser = ({ name, uid, groups, extra }: User): string =>
  `&{${name} ${uid} ${goText([...groups])} ${goText(Object.fromEntries(Array.from(extra, ([key, all]) => [key, [...all]])))}}`;

/** The resource of a policy's parameters; for a kind that is not served, all resources of its group and version. */
function parametersOf({ kinds }: PolicyHost, { apiVersion = '', kind = '' }: Frozen<ParamKind>): Parameters {
  const slash = apiVersion.indexOf('/');
  const resource = kinds.find(apiVersion, kind)?.resource ?? '*';
  const group = kinds.neutralGroup(apiVersion.slice(0, Math.max(slash, 0)));
  return { group, version: apiVersion.slice(slash + 1), resource };
}

async function isAllowed(
  { at }: PolicyHost,
  { user }: Change,
  asked: Parameters & Pick<ResourceTarget, 'verb' | 'namespace' | 'name'>,
): Promise<boolean> {
  const { decision } = await at(authorizer).authorize(user, { is: 'resource', subresource: '', path: '', ...asked });
  return decision.is === 'allow';
}

/** Members of `system:masters` may read everything, whatever the authorizers say. */
const isMaster = ({ user }: Change): boolean => user.groups.includes(MASTERS_GROUP);

/** A user who gives a policy another kind of parameters must be able to read all objects of this kind. */
const permissionOfPolicies = (host: PolicyHost): Validator => ({
  on: {
    groups: [GROUP],
    resources: ['validatingadmissionpolicies', 'mutatingadmissionpolicies'],
    operations: ['CREATE', 'UPDATE'],
  },
  async validate(change, after) {
    const paramKind = paramKindOf(after as Frozen<Policy> | undefined);
    if (!paramKind || isMaster(change)) return [];
    if (isSemanticallyEqual(paramKind, paramKindOf(change.old as Frozen<Policy> | undefined))) return [];
    const asked = { ...parametersOf(host, paramKind), verb: 'get', namespace: '*', name: '*' } as const;
    if (await isAllowed(host, change, asked)) return [];
    const { kind = '', apiVersion = '' } = paramKind;
    const why =
      `user ${shownUser(change.user)} must have "get" permission on all objects of the referenced paramKind ` +
      `(kind=${kind}, apiVersion=${apiVersion})`;
    return [forbiddenField('spec.paramKind', why)];
  },
});

/** How the refusal of a binding is worded. */
type Wording = (user: string, verb: string) => string;

const onReference: Wording = (user, verb) =>
  `user ${user} does not have "${verb}" permission on the object referenced by paramRef`;

/** The resource that a binding's parameters are read from, and the error for users who may not read it. */
function parametersOfBinding(
  host: PolicyHost,
  policies: Informer<Policy>,
  name: string,
  onReferenced: Wording,
): { readonly parameters: Parameters; readonly refusal: Wording } {
  const unknown =
    (failure: string): Wording =>
    (user, verb) =>
      `${failure} to determine minimum required permissions and user ${user} does not have "${verb}" permission for ` +
      'all groups, versions and resources';
  const policy = policies.get('', name);
  if (!policy) return { parameters: ALL, refusal: unknown(`unable to get policy ${name}`) };
  const { paramKind } = policy.spec;
  if (!paramKind) return { parameters: ALL, refusal: onReferenced };
  const parameters = parametersOf(host, paramKind);
  const shown = `&{${paramKind.apiVersion ?? ''} ${paramKind.kind ?? ''}}`;
  const isKnown = parameters.resource !== '*';
  return { parameters, refusal: isKnown ? onReferenced : unknown(`unable to resolve paramKind ${shown}`) };
}

/**
 * A user who binds a policy to parameters must be able to read them: the named object, or the list of all that a
 * selector could select, in the namespace of the reference, or in all.
 */
function permissionOfBindings(host: PolicyHost, kind: string, onReferenced: Wording): Validator {
  const policies = host.informer(`${GROUP}/${kind}policies`) as Informer<Policy>;
  return {
    on: { groups: [GROUP], resources: [`${kind}policybindings`], operations: ['CREATE', 'UPDATE'] },
    async validate(change, object): Promise<readonly Violation[]> {
      const binding = object as Frozen<Binding> | undefined;
      const paramRef = binding?.spec.paramRef;
      if (!object || !paramRef || isMaster(change) || grantsNothing(change.old, object)) return [];
      const { policyName = '' } = binding.spec;
      const { parameters, refusal } = parametersOfBinding(host, policies, policyName, onReferenced);
      const { namespace = '', name = '' } = paramRef;
      const verb = paramRef.selector ? 'list' : 'get';
      if (await isAllowed(host, change, { ...parameters, verb, namespace, name })) return [];
      return [forbiddenField('spec.paramRef', refusal(shownUser(change.user), verb))];
    },
  };
}

/**
 * Policies read their parameters with the permissions of the server: users that write policies and bindings must be
 * able to read the same objects.
 */
export default definePlugin({
  name: 'policy-parameters',
  parse: () => null,
  contribute: () => [
    validator.of(permissionOfPolicies),
    validator.of(host => permissionOfBindings(host, 'validatingadmission', onReference)),
    // Upstream's message has user and verb in the wrong order.
    validator.of(host => permissionOfBindings(host, 'mutatingadmission', (user, verb) => onReference(verb, user))),
  ],
}) satisfies Plugin<null>;
