import type { ApiObject } from '../model/object.js';
import type { Refusal, Violation } from '../model/refusal.js';
import type { Target } from '../model/target.js';
import type { User } from '../model/user.js';
import type { Decision, UserRules } from './access.js';
import type { Awaitable } from './point.js';

/**
 * What the functions of a strategy may know of the request and of other objects.
 *
 * @example
 * validateCreate: (object, context) =>
 *   context.lookup('core/secrets', object.metadata.namespace ?? '', secretOf(object))
 *     ? []
 *     : [notFoundField('spec.secretName', secretOf(object))];
 */
export interface StrategyContext {
  /** Time of the request, RFC 3339 in whole seconds, UTC. */
  readonly now: string;
  /** Who made the request. */
  readonly user: User;
  /** Nothing will be stored. */
  readonly dryRun: boolean;
  /**
   * The current object of a resource that `Strategy.reads` names, as new as every write acknowledged before the
   * request; undefined if there is none. It is shared: do not change it.
   */
  lookup(storageName: string, namespace: string, name: string): ApiObject | undefined;
  /** All current objects of a resource that `Strategy.reads` names. They are shared: do not change them. */
  list(storageName: string): readonly ApiObject[];
  /** Adds a Warning header to the answer; absent where nobody would see it. */
  warn?(text: string): void;
}

/**
 * A printed column of a Table.
 *
 * @example
 * const CUPS: Column = {
 *   name: 'Cups',
 *   type: 'integer',
 *   format: '',
 *   priority: 0,
 *   description: 'Cups that were ordered.',
 *   cell: object => (object.spec as OrderSpec).cups,
 * };
 */
export interface Column {
  readonly name: string;
  /** OpenAPI type of the cells: `string`, `integer`, `number`, `boolean`, or `date`. */
  readonly type: string;
  /** OpenAPI format of the cells; empty for none. `name` marks the column with the object's name. */
  readonly format: string;
  /** Columns above 0 are shown in wide output only. */
  readonly priority: number;
  readonly description: string;
  /** The cell of an object in its storage version. `now` in milliseconds since the epoch. */
  cell(object: ApiObject, now: number): string | number | boolean | null;
}

/**
 * Condition of a row of a Table: tells clients that the object has ended.
 *
 * @example
 * rowConditions: object =>
 *   isServed(object) ? [{ type: 'Completed', status: 'True', reason: 'Served', message: 'The tea was served.' }] : [];
 */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/**
 * A write to a named subresource or an action: receives the object of the body and the current object, which it may
 * change, and returns the object to store. Throws Refusal.
 *
 * @example
 * const approve: SubresourceWrite = (body, current, context) => ({
 *   ...current,
 *   status: { approvedBy: context.user.name },
 * });
 */
export type SubresourceWrite = (body: ApiObject, current: ApiObject, context: StrategyContext) => ApiObject;

/**
 * What answers a request that would lead away from the server (`log`, `exec`, `proxy`): a refusal, or `empty` where
 * there is nothing to read yet. Undefined: the request would have to be connected, which the server does not do.
 *
 * @example
 * const log: Connection = pod => (isScheduled(pod) ? undefined : 'empty');
 */
export type Connection = (
  object: ApiObject,
  query: ReadonlyMap<string, readonly string[]>,
) => Refusal | 'empty' | undefined;

/**
 * What a review may ask the server. It asks the same authenticators and authorizers as every request.
 *
 * @example
 * review: async (object, { user, authorize }) => ({ ...object, status: await authorize(user, targetOf(object)) });
 */
export interface ReviewContext extends StrategyContext {
  /** Whose the bearer token is, with all groups of the user; undefined if it is nobody's. */
  authenticate(token: string): Promise<User | undefined>;
  /**
   * What the authorizers say of a request; groups are named as clients name them. Throws Refusal where an authorizer
   * fails.
   */
  authorize(user: User, target: Target): Promise<Decision>;
  /** What a user may do in a namespace. `incomplete`: some authorizers cannot say. */
  rulesFor(user: User, namespace: string): Promise<UserRules & { readonly incomplete: boolean }>;
}

/**
 * Where the scale subresource reads and writes.
 *
 * @example
 * scale: { spec: ['spec', 'cups'], status: ['status', 'poured'], selector: () => '' }
 */
export interface ScaleFields {
  /** Path of members to the number of replicas that is asked for. */
  readonly spec: readonly string[];
  /** Path of members to the number of replicas that was observed. */
  readonly status: readonly string[];
  /** The selector of the object's pods, as text; empty for none. */
  readonly selector: (object: ApiObject) => string;
  /** What a read calls the scale of an object that does not exist; absent: the resource itself. */
  readonly notFoundAs?: { readonly group: string; readonly resource: string };
  /**
   * Message of the error with which a read is answered where nothing stands at `spec`; absent: the scale then shows no
   * replicas. With a message, the strategy validates the counts as well.
   */
  readonly absentMessage?: string;
}

/**
 * Everything special about one kind that the server cannot derive from the schema of the kind. A strategy has only the
 * members that differ from those of an ordinary object, whose name is a DNS-1123 subdomain. The functions must be pure
 * and synchronous, and receive objects that conform to the schema.
 *
 * The order for a create: `applyDefaults` on the decoded body, mutators, `prepareCreate`, `applyDefaults`,
 * `validateCreate`, validators. For an update: `applyDefaults` on the decoded body, mutators, `prepareUpdate`,
 * `applyDefaults`, `validateUpdate`, validators. For an update of `status`: `applyDefaults`, `prepareStatus`, mutators,
 * `applyDefaults`, `validateStatus`, validators.
 *
 * @example
 * const order: Partial<Strategy> = {
 *   applyDefaults: object => void ((object.spec as OrderSpec).cups ??= 1),
 *   validateCreate: object => checkOrder(object),
 *   validateUpdate: (object, old) => [...checkOrder(object), ...checkUnchanged(object, old, 'tea')],
 *   selectableFields: new Map([['spec.tea', object => (object.spec as OrderSpec).tea]]),
 * };
 */
export interface Strategy {
  // Names and metadata

  /** Complaints about `metadata.name`, or with `prefix` about `metadata.generateName`; empty if there are none. */
  readonly checkName: (name: string, prefix: boolean) => readonly string[];
  /** Finalizers may have any qualified name; absent: those without a domain must be the standard ones. */
  readonly allowAnyFinalizer?: boolean;
  /** Objects of the kind cannot be owners: what a delete says about dependents is ignored. */
  readonly cannotBeOwner?: boolean;
  /** `metadata.generation` is kept: 1 for a new object, raised by updates for which `changesGeneration` is true. */
  readonly hasGeneration: boolean;
  /** Whether an update raises the generation; absent: if anything outside metadata and status differs. */
  readonly changesGeneration?: (object: ApiObject, old: ApiObject) => boolean;

  // Writes

  /** Writes to the main resource keep `status`; writes to `status` keep all else. */
  readonly hasStatus: boolean;
  /** A create keeps the status it came with: whoever makes the object also reports on it. */
  readonly keepStatusOnCreate?: boolean;
  /** PUT creates an object that does not exist. */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without a resourceVersion is accepted. */
  readonly allowUnconditionalUpdate: boolean;
  /** Storage names of the resources that `StrategyContext.lookup` and `list` are asked about. */
  readonly reads?: readonly string[];
  /** Awaited before the other functions are called for a request: loads what few servers need. */
  readonly load?: () => Promise<unknown>;
  /** Sets absent fields. Must be idempotent: it may run several times on one object. */
  readonly applyDefaults: (object: ApiObject) => void;
  /** Before the validation of a create: removes what clients may not set (not `status`, which is gone), allocates. */
  readonly prepareCreate: (object: ApiObject, context: StrategyContext) => void;
  /** Before the validation of an update of the main resource. */
  readonly prepareUpdate: (object: ApiObject, old: ApiObject, context: StrategyContext) => void;
  /** Before the validation of an update of `status`. */
  readonly prepareStatus: (object: ApiObject, old: ApiObject, context: StrategyContext) => void;
  /** All violations of a create; they go into one answer. */
  readonly validateCreate: (object: ApiObject, context: StrategyContext) => readonly Violation[];
  /** All violations of an update of the main resource. */
  readonly validateUpdate: (object: ApiObject, old: ApiObject, context: StrategyContext) => readonly Violation[];
  /** All violations of an update of `status`. */
  readonly validateStatus: (object: ApiObject, old: ApiObject, context: StrategyContext) => readonly Violation[];
  /**
   * What no two objects of the resource may hold at once, such as addresses and ports. A check by `list` is not enough:
   * two writes may be validated at the same time. The store refuses the second, which is then validated again. At most
   * `OBJECT_CLAIMS` of an object are kept.
   */
  readonly claims?: (object: ApiObject) => readonly string[];

  // Deletion

  /** DELETE that removes the object at once answers with the object; false: with a Status. */
  readonly returnsDeletedObject: boolean;
  /** Dependents are orphaned where the client names no propagation policy. */
  readonly orphansByDefault: boolean;
  /** Warning of a delete that names no propagation policy. */
  readonly deletionWarning?: string;
  /** The kind is removed in grace: what a delete shows carries when it ended, also where the grace is 0. */
  readonly hasGrace?: boolean;
  /** Seconds of grace before removal; 0 removes at once. `asked` is the client's gracePeriodSeconds. */
  readonly gracePeriod: (object: ApiObject, asked: number | undefined) => number;
  /** Called when a deletion begins and the object stays for now, because of finalizers or grace. */
  readonly beginDeletion?: (object: ApiObject) => void;
  /** Finalizers that the kind keeps outside of metadata; while there are any, the object stays. */
  readonly extraFinalizers?: (object: ApiObject) => readonly string[];

  // Subresources

  /** Writes to subresources other than status and scale, by name: `finalize`, `approval`, `ephemeralcontainers`. */
  readonly subresources?: ReadonlyMap<string, SubresourceWrite>;
  /** Creates on subresources that change the object, by name: `binding`. The answer is a Status. */
  readonly actions?: ReadonlyMap<string, SubresourceWrite>;
  /**
   * For a virtual resource: a create on it is this action of the object that the body names, of another resource of the
   * same group version.
   */
  readonly actsOn?: { readonly plural: string; readonly action: string };
  /**
   * For a kind that is answered and never stored: the answer to a create, once `validateCreate` and validators have
   * found nothing wrong. Throws Refusal.
   */
  readonly review?: (object: ApiObject, context: ReviewContext) => Awaitable<ApiObject>;
  /** Subresources that would lead away from the server, by name. */
  readonly connections?: ReadonlyMap<string, Connection>;
  /** Set for kinds with a scale subresource. */
  readonly scale?: ScaleFields;

  // Reads

  /** Fields that field selectors may name beside metadata.name and metadata.namespace; an absent value is ''. */
  readonly selectableFields: ReadonlyMap<string, (object: ApiObject) => string>;
  /** Which of the selectable fields a version has; absent: all. */
  readonly isSelectableIn?: (field: string, apiVersion: string) => boolean;
  /** Message for a field selector with an unknown field; absent: that of most kinds. */
  readonly unknownFieldMessage?: (field: string) => string;
  /** Further names that field selectors may use, and the selectable field that each stands for. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  /** Columns of Tables; absent: the name and when the object was created. */
  readonly columns?: readonly Column[];
  /** Order of the rows of a Table of a list, as for `Array.sort`; absent: that of the list. */
  readonly compareRows?: (a: ApiObject, b: ApiObject) => number;
  /** Conditions of the row of an object; absent: none. */
  readonly rowConditions?: (object: ApiObject) => readonly RowCondition[];
  /**
   * The object in another served version of the kind, from the storage version and back; returns `object` or a new one.
   * Absent: versions differ in name alone.
   */
  readonly convert?: (object: ApiObject, toApiVersion: string) => ApiObject;
}
