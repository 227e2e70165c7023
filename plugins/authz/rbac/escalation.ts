import {
  type ApiObject,
  type Change,
  type Frozen,
  type Host,
  authorizer,
  isSemanticallyEqual,
  notFound,
  qualifyResource,
  Refusal,
  type ResourceTarget,
  type User,
  type Validator,
} from '../../../core/api/index.js';
import { missingPermissions } from './covers.js';
import { describeRules } from './describe.js';
import { joinErrors, type Rbac } from './evaluate.js';
import { GROUP, type PolicyRule, type RoleRef } from './policy.js';

const MASTERS = 'system:masters';
/** The permissions that a role needs whose rules are aggregated. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** The role of a binding that names none, which the validation of the kind reports. */
const NO_ROLE: RoleRef = { apiGroup: '', kind: '', name: '' };

type Stored = Frozen<ApiObject>;

/** The object as far as the garbage collector does not change it. */
const withoutCollected = (object: Stored): object => {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, resourceVersion: '' } };
};

/** Whether an update grants nothing: it changes nothing, or only what the garbage collector changes. */
const grantsNothing = ({ old }: Change, object: Stored): boolean =>
  old !== undefined && isSemanticallyEqual(withoutCollected(object), withoutCollected(old));

const rulesOf = (object: Stored): readonly PolicyRule[] =>
  (object['rules'] as readonly PolicyRule[] | null | undefined) ?? [];

/**
 * Nobody grants more than they hold (spec, "RBAC rules"): who writes a role needs its permissions at its scope or the
 * verb `escalate`; who writes a binding, those of the role that it names or the verb `bind` on it. The verbs are asked
 * of all authorizers, whichever modes the server has. Members of `system:masters` may grant everything.
 */
export class Escalation {
  constructor(
    private readonly rbac: Rbac,
    private readonly host: Pick<Host<'request'>, 'at' | 'naming'>,
  ) {}

  /** Checks roles and cluster roles. Throws 403. */
  readonly roles: Validator = {
    on: { groups: [GROUP], resources: ['roles', 'clusterroles'], operations: ['CREATE', 'UPDATE'] },
    validate: async (change, object) => {
      if (object && !(await this.#mayWriteRole(change, object))) this.#checkRole(change, object);
      return [];
    },
  };

  /** Checks bindings. Throws 403, and 404 for a role that does not exist. */
  readonly bindings: Validator = {
    on: { groups: [GROUP], resources: ['rolebindings', 'clusterrolebindings'], operations: ['CREATE', 'UPDATE'] },
    validate: async (change, object) => {
      if (!object || this.#isFree(change, object)) return [];
      const reference = (object['roleRef'] ?? NO_ROLE) as RoleRef;
      if (await this.#mayBind(change, reference)) return [];
      const rules = this.rbac.rulesOfRole(reference, change.target.namespace);
      if (!rules) throw notFound(this.#resource(change), reference.name);
      this.#checkHeld(change, object, rules);
      return [];
    },
  };

  #isFree(change: Change, object: Stored): boolean {
    return change.user.groups.includes(MASTERS) || grantsNothing(change, object);
  }

  async #mayWriteRole(change: Change, object: Stored): Promise<boolean> {
    if (this.#isFree(change, object)) return true;
    const name = change.operation === 'CREATE' ? '' : change.target.name;
    return this.#isAllowed(change.user, { ...change.target, name, verb: 'escalate' });
  }

  /** Aggregation adds rules that are not checked, so it requires all permissions. */
  #checkRole(change: Change, object: Stored): void {
    this.#checkHeld(change, object, rulesOf(object));
    const { aggregationRule } = object;
    if (isSemanticallyEqual(aggregationRule, change.old?.['aggregationRule'])) return;
    if (missingPermissions(this.rbac.policyRulesOf(change.user, change.target.namespace).rules, EVERYTHING).length > 0)
      this.#refuse(change, object, 'must have cluster-admin privileges to use an aggregationRule');
  }

  async #mayBind({ user, target }: Change, { kind, name }: RoleRef): Promise<boolean> {
    const resource = kind === 'ClusterRole' ? 'clusterroles' : kind === 'Role' ? 'roles' : undefined;
    if (!resource) return false;
    return this.#isAllowed(user, { ...target, verb: 'bind', resource, name });
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
    const groups = user.groups.map(group => JSON.stringify(group)).join(' ');
    const who = `user ${JSON.stringify(user.name)} (groups=[${groups}])`;
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
    const message = `${qualifyResource(of)} ${JSON.stringify(name)} is forbidden: ${why}`;
    throw new Refusal('Forbidden', message, { name, group: of.group, kind: of.resource });
  }

  #resource({ target }: Change): { group: string; resource: string } {
    return { group: this.host.naming.group(GROUP), resource: target.resource };
  }
}
