import {
  type ApiObject,
  type Change,
  type Frozen,
  type Host,
  authorizer,
  type Match,
  type Mutator,
  notFound,
  qualifyResource,
  Refusal,
  type ResourceTarget,
  type User,
  type Validator,
} from '../../../core/api/index.js';
import { checkNameParameter } from '../../../core/model/nameParameter.js';
import { goQuote } from '../../../core/model/text/quote.js';
import { badRequest } from '../../../core/model/refusal.js';
import { grantsNothing } from '../../../core/model/unchanged.js';
import { missingPermissions } from './covers.js';
import { describeRules } from './describe.js';
import { joinErrors, type Rbac } from './evaluate.js';
import { GROUP, type PolicyRule, type RoleRef } from './policy.js';
import { MASTERS_GROUP } from '../../../core/model/wellKnown/senders.js';

/** The permissions that the writer of an aggregated role needs: its rules can become anything. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const ROLES: readonly string[] = ['roles', 'clusterroles'];
const WRITES: Match = {
  groups: [GROUP],
  resources: [...ROLES, 'rolebindings', 'clusterrolebindings'],
  operations: ['CREATE', 'UPDATE'],
};

/** Resources by the kind of role that a binding names. */
const ROLE_KINDS: ReadonlyMap<string, string> = new Map([
  ['ClusterRole', 'clusterroles'],
  ['Role', 'roles'],
]);

/** The role of a binding without a role reference. The validation of the kind reports that it is missing. */
const NO_ROLE: RoleRef = { apiGroup: '', kind: '', name: '' };

type Stored = Frozen<ApiObject>;

const rulesOf = (object: Stored): readonly PolicyRule[] =>
  (object['rules'] as readonly PolicyRule[] | null | undefined) ?? [];

/**
 * Prevents users from granting permissions that they do not have (spec, "RBAC rules"). The writer of a role needs its
 * permissions at its scope, or the verb `escalate`. The writer of a binding needs the permissions of its role, or the
 * verb `bind` on that role. All configured authorizers are asked about these verbs, not RBAC alone. Members of
 * `system:masters` may grant everything.
 */
export class Escalation {
  constructor(
    private readonly rbac: Rbac,
    private readonly host: Pick<Host<'pool'>, 'at' | 'naming'>,
  ) {}

  /** Checks drafts, so that refusals precede those of the kinds. Throws 403, and 404 for a role that does not exist. */
  readonly ofDrafts: Mutator = { on: WRITES, mutate: (change, draft) => this.#check(change, draft) };

  /** Checks the object that will be stored. Throws like `ofDrafts`. */
  readonly ofObjects: Validator = {
    on: WRITES,
    validate: async (change, object) => {
      if (object) await this.#check(change, object);
      return [];
    },
  };

  async #check(change: Change, object: Stored): Promise<void> {
    if (change.user.groups.includes(MASTERS_GROUP) || grantsNothing(change.old, object)) return;
    if (ROLES.includes(change.target.resource)) await this.#checkRole(change, object);
    else await this.#checkBinding(change, object);
  }

  async #checkBinding(change: Change, object: Stored): Promise<void> {
    const reference = (object['roleRef'] ?? NO_ROLE) as RoleRef;
    if (await this.#mayBind(change, reference)) return;
    this.#checkHeld(change, object, this.#rulesOf(change, reference));
  }

  /** The rules of the role that a binding names. Throws for a reference that names none. */
  #rulesOf(change: Change, reference: RoleRef): readonly PolicyRule[] {
    const { kind, name } = reference;
    const { namespace } = change.target;
    if (!ROLE_KINDS.has(kind)) throw new Refusal('', `unsupported role reference kind: ${goQuote(kind)}`);
    if (kind === 'Role' && namespace === '') throw badRequest('Namespace parameter required.');
    checkNameParameter(name ?? '');
    const rules = this.rbac.rulesOfRole(reference, namespace);
    if (!rules) throw notFound(this.#resource(change), name);
    return rules;
  }

  /** Aggregation adds rules that are not checked, so it requires all permissions. */
  async #checkRole(change: Change, object: Stored): Promise<void> {
    const name = change.operation === 'CREATE' ? '' : change.target.name;
    if (await this.#isAllowed(change.user, { ...change.target, name, verb: 'escalate' })) return;
    this.#checkHeld(change, object, rulesOf(object));
    if (!object['aggregationRule'] && !change.old?.['aggregationRule']) return;
    if (missingPermissions(this.rbac.policyRulesOf(change.user, change.target.namespace).rules, EVERYTHING).length > 0)
      this.#refuse(change, object, 'must have cluster-admin privileges to use the aggregationRule');
  }

  /** Permission to bind is asked for in the group that the binding names, which its validation may refuse. */
  async #mayBind({ user, target }: Change, { apiGroup, kind, name }: RoleRef): Promise<boolean> {
    const resource = ROLE_KINDS.get(kind);
    if (!resource) return false;
    const isOther = (apiGroup ?? '') !== '' && apiGroup !== this.host.naming.group(GROUP);
    const group = isOther ? apiGroup : GROUP;
    return this.#isAllowed(user, { ...target, verb: 'bind', group, resource, name });
  }

  async #isAllowed(user: User, target: ResourceTarget): Promise<boolean> {
    const { decision } = await this.host.at(authorizer).authorize(user, { ...target, version: 'v1', path: '' });
    return decision.is === 'allow';
  }

  #checkHeld(change: Change, object: Stored, wanted: readonly PolicyRule[]): void {
    const { user, target } = change;
    const { rules, missing } = this.rbac.policyRulesOf(user, target.namespace);
    const more = missingPermissions(rules, wanted);
    if (more.length === 0) return;
    const groups = user.groups.map(group => goQuote(group)).join(' ');
    const who = `user ${goQuote(user.name)} (groups=[${groups}])`;
    const unresolved = missing.length === 0 ? '' : `; resolution errors: [${joinErrors(missing)}]`;
    this.#refuse(
      change,
      object,
      `${who} is attempting to grant RBAC permissions not currently held:\n${describeRules(more)}${unresolved}`,
    );
  }

  #refuse(change: Change, object: Stored, why: string): never {
    const of = this.#resource(change);
    const { name = '' } = object.metadata;
    const message = `${qualifyResource(of)} ${goQuote(name)} is forbidden: ${why}`;
    throw new Refusal('Forbidden', message, { name, group: of.group, kind: of.resource });
  }

  #resource({ target }: Change): { group: string; resource: string } {
    return { group: this.host.naming.group(GROUP), resource: target.resource };
  }
}
