import type { CellValue } from '../model/age.js';
import type { ApiObject, ObjectMeta } from '../model/object.js';
import type { Time } from '../model/scalars.js';
import type { Refusal, Violation } from '../model/refusal.js';
import type { Target } from '../model/target.js';
import type { User } from '../model/user.js';
import type { Decision } from './access.js';
import type { DecisionRecord, RecordContext } from './observe/decisions.js';
import type { ExplainedOpinion, UserRules } from './observe/explain.js';
import type { Awaitable } from './point.js';

/**
 * The part of the request, and of other objects, that the functions of a strategy can use.
 *
 * @example
 * validateCreate: (object, context) =>
 *   context.lookup('core/secrets', object.metadata.namespace ?? '', secretOf(object))
 *     ? []
 *     : [notFoundField('spec.secretName', secretOf(object))];
 */
export interface StrategyContext {
  /** The time of the request in RFC 3339, in whole seconds and UTC. */
  readonly now: Time;
  /** The sender of the request. */
  readonly user: User;
  /** Whether nothing will be stored. */
  readonly dryRun: boolean;
  /**
   * The members of the object, such as `spec`, in which the client sent empty lists or maps, each with the names of its
   * own members that are or contain one. Objects do not have empty lists, but some kinds distinguish them from absent
   * ones.
   */
  readonly emptied?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Calls `visit` with the path of each empty list and map that was sent but that the object does not have. */
  eachEmptied?(visit: (place: readonly (string | number)[]) => void): void;
  /**
   * The current object of a resource in `Strategy.reads`, including every write acknowledged before the request;
   * undefined if there is none. It is shared and must not be changed. Throws for a resource that is not in `reads`.
   */
  lookup(resource: string, namespace: string, name: string): ApiObject | undefined;
  /** All current objects of a resource in `Strategy.reads`. They are shared and must not be changed. */
  list(resource: string): readonly ApiObject[];
  /** Adds a Warning header to the answer; absent if there is no answer to a client. */
  warn?(text: string): void;
  /**
   * Adds an annotation to the audit event of the request, unless it has one of this name. Names are qualified
   * (`example.com/name`); others are ignored. Absent if there is no request.
   */
  annotate?(name: string, value: string): void;
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
export interface Column<T = ApiObject> {
  /** Empty: rows have the cells, but the Table does not define the column, as for some kinds in upstream. */
  readonly name: string;
  /** OpenAPI type of the cells: `string`, `integer`, `number`, `boolean`, or `date`. */
  readonly type: string;
  /** OpenAPI format of the cells; empty for none. `name` marks the column with the object's name. */
  readonly format: string;
  /** Columns with a priority above 0 are shown only in wide output. */
  readonly priority: number;
  readonly description: string;
  /**
   * The cell of an object in its storage version. It is cached until the object changes, so the time since an event
   * must be returned as an Age.
   */
  cell(object: T): CellValue;
}

/**
 * A condition of a row of a Table, which tells clients that the object has ended.
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
 * A write to a named subresource, or an action. Receives the object of the body and the current object, which it may
 * change, and returns the object to store. Throws Refusal.
 *
 * @example
 * const approve: SubresourceWrite = (body, current, context) => ({
 *   ...current,
 *   status: { approvedBy: context.user.name },
 * });
 */
export type SubresourceWrite<T = ApiObject, Body = T> = (body: Body, current: T, context: StrategyContext) => T;

/**
 * A create on a subresource that changes nothing: receives the object of the body and the current object, which it must
 * not change, and returns the answer, an object of the subresource's kind. Throws Refusal.
 *
 * @example
 * const brew: SubresourceAnswer = (body, order, context) => ({ ...body, status: { readyAt: context.now } });
 */
export type SubresourceAnswer<T = ApiObject> = (
  body: ApiObject,
  current: T,
  context: StrategyContext,
) => Awaitable<ApiObject>;

/**
 * A create on a subresource that deletes the object: receives the object of the body and the current object, which it
 * may change. `options` are those of the delete, as a DeleteOptions object. Throws Refusal.
 *
 * @example
 * const cancel: SubresourceDeletion = (body, order, context) => ({
 *   options: { gracePeriodSeconds: 0 },
 *   object: order,
 *   changes: [{ storageName: 'custom:example.com/tables', object: withFreeSeat(tableOf(order, context)) }],
 * });
 */
export type SubresourceDeletion<T = ApiObject> = (
  body: ApiObject,
  current: T,
  context: StrategyContext,
) => {
  readonly options: { readonly [member: string]: unknown };
  /** The object to store if the deletion leaves it, for its grace period or for finalizers. */
  readonly object: T;
  /**
   * Objects of resources in `Strategy.reads` that are changed in the same transaction. If one is no longer at its
   * resourceVersion, the request runs again.
   */
  readonly changes?: readonly { readonly storageName: string; readonly object: ApiObject }[];
};

/**
 * Answers a request that would be forwarded (`log`, `exec`, `proxy`): throws or returns a refusal, or returns `empty`
 * if there is no output yet. Undefined: the request would have to be forwarded, which the server does not support.
 *
 * @example
 * const log: Connection = pod => (isScheduled(pod) ? undefined : 'empty');
 */
export type Connection<T = ApiObject> = (
  object: T,
  query: ReadonlyMap<string, readonly string[]>,
) => Refusal | 'empty' | undefined;

/**
 * The result of reviewing a token. `user`: the user with all groups; absent if the token is invalid, for `reasons`, if
 * any are known. `audiences`: those of the requested audiences that the token is for; absent if its authenticator does
 * not know audiences, and the token is for this server.
 *
 * @example
 * const { user, reasons = [] } = await context.authenticate(token, ['https://vault']);
 */
export type ReviewedToken =
  | { readonly user: User; readonly audiences?: readonly string[]; readonly reasons?: undefined }
  | { readonly user?: undefined; readonly audiences?: undefined; readonly reasons: readonly string[] };

/**
 * The questions that a review can ask the server. The authenticators and authorizers are those of all requests.
 *
 * @example
 * review: async (object, { user, authorize }) => ({ ...object, status: await authorize(user, targetOf(object)) });
 */
export interface ReviewContext extends StrategyContext {
  /** Authenticates a bearer token, which must be valid for one of the audiences. */
  authenticate(token: string, audiences: readonly string[]): Promise<ReviewedToken>;
  /**
   * The decision of the authorizers about a request. Groups are in the naming of the server. Throws Refusal if an
   * authorizer fails.
   */
  authorize(user: User, target: Target): Promise<Decision>;
  /** The rules of a user in a namespace. `incomplete` if some authorizers cannot list theirs. */
  rulesFor(user: User, namespace: string): Promise<UserRules & { readonly incomplete: boolean }>;
  /** The decisions of all authorizers about a request, with their explanations. Groups are as for `authorize`. */
  explain(user: User, target: Target): Promise<readonly ExplainedOpinion[]>;
}

/**
 * The fields that the scale subresource reads and writes.
 *
 * @example
 * scale: { spec: ['spec', 'cups'], status: ['status', 'poured'], selector: () => '' }
 */
export interface ScaleFields<T = ApiObject> {
  /** Path of the member with the desired number of replicas. */
  readonly spec: readonly string[];
  /** Path of the member with the observed number of replicas. */
  readonly status: readonly string[];
  /** The selector of the object's pods as text; empty if there is none. */
  readonly selector: (object: T) => string;
  /** The resource name in the 404 for the scale of an object that does not exist; absent: the resource itself. */
  readonly notFoundAs?: { readonly group: string; readonly resource: string };
  /**
   * Error messages for objects without a value at `spec`, or with values that are not counts. Absent: the scale of such
   * an object has no replicas. If set, the strategy must validate the counts as well.
   */
  readonly messages?: ScaleMessages;
}

/**
 * Error messages of the scale subresource, for kinds whose definitions choose the paths.
 *
 * @example
 * const messages: ScaleMessages = { absent: 'no replicas', empty: 'set replicas', wrongType: () => undefined };
 */
export interface ScaleMessages {
  /** 500 for a read of the scale if there is no value at `spec`. */
  readonly absent: string;
  /** 400 for a patch that leaves that value absent. */
  readonly empty: string;
  /**
   * The message of a 500 for all requests if a value of the object does not have the type that the scale has there;
   * otherwise undefined.
   */
  readonly wrongType: (object: ApiObject) => string | undefined;
}

/**
 * A companion of an object: its members other than `apiVersion` and `kind`.
 *
 * @example
 * const companion: Companion = { metadata: { name: '10.0.0.7' }, spec: {} };
 */
export interface Companion {
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

/**
 * Everything special about one kind that the server cannot derive from the schema of the kind. A strategy has only the
 * members that differ from those of an ordinary object, whose name is a DNS-1123 subdomain. The functions must be pure
 * and synchronous, and receive objects that conform to the schema.
 *
 * The order for a create: `applyDefaults` on the decoded body, mutators, `prepareCreate`, `applyDefaults`,
 * `validateCreate`, validators. For an update: `applyDefaults` on the decoded body, mutators, `prepareUpdate`,
 * `applyDefaults`, `validateUpdate`, validators. For an update of `status`: `applyDefaults` on the decoded body,
 * `prepareStatus`, mutators, `prepareStatus` again, `applyDefaults`, `validateStatus`, validators.
 *
 * `T` is the type of the objects.
 *
 * @example
 * const order: Partial<Strategy> = {
 *   applyDefaults: object => void ((object.spec as OrderSpec).cups ??= 1),
 *   validateCreate: object => checkOrder(object),
 *   validateUpdate: (object, old) => [...checkOrder(object), ...checkUnchanged(object, old, 'tea')],
 *   selectableFields: new Map([['spec.tea', object => (object.spec as OrderSpec).tea]]),
 * };
 */
export interface Strategy<T = ApiObject> {
  // Names and metadata

  /** Messages about `metadata.name`, or with `prefix` about `metadata.generateName`; empty if it is valid. */
  readonly checkName: (name: string, prefix: boolean) => readonly string[];
  /** The path of the resource in messages that show where an object is stored; absent: the plural name. */
  readonly storePath?: string;
  /**
   * Whether an update validates `metadata.generateName` as a create does, and, with `first`, before the finalizers;
   * absent: it must be a path segment.
   */
  readonly revalidatesName?: boolean | 'first';
  /** Whether finalizers may have any qualified name; absent: finalizers without a domain must be standard ones. */
  readonly allowAnyFinalizer?: boolean;
  /**
   * The metadata of a new object is validated only if `validateCreate` finds nothing; absent: before. For kinds that
   * validate it themselves, or whose names are of little importance.
   */
  readonly validatesMetadataLast?: boolean;
  /** Objects of the kind are never owners: the propagation policy of deletes is ignored. */
  readonly cannotBeOwner?: boolean;
  /**
   * Whether the server maintains `metadata.generation`: 1 for a new object, incremented by updates for which
   * `changesGeneration` returns true.
   */
  readonly hasGeneration: boolean;
  /**
   * Whether an update increments the generation; absent: if any member except metadata and status has changed.
   * `emptied` is that of the StrategyContext.
   */
  readonly changesGeneration?: (object: T, old: T, emptied: ReadonlyMap<string, ReadonlySet<string>>) => boolean;

  // Writes

  /** Writes to the main resource keep the `status`; writes to `status` keep everything else. */
  readonly hasStatus: boolean;
  /** A create keeps the status of the body: the creator of the object also reports its status. */
  readonly keepStatusOnCreate?: boolean;
  /** Whether PUT creates an object that does not exist. */
  readonly allowCreateOnUpdate: boolean;
  /** Whether PUT without a resourceVersion is accepted. */
  readonly allowUnconditionalUpdate: boolean;
  /** The resources that `StrategyContext.lookup` and `list` can read, named as for `host.informer`. */
  readonly reads?: readonly string[];
  /**
   * How much longer a write takes than for another object of the same size, as a factor: above 1, for example, if
   * schemas or expressions are compiled. Absent: 1. Writes that may take long run separately, so that others do not
   * wait for them.
   */
  readonly weight?: number;
  /** Awaited before the other functions are called for a request: loads modules that few servers need. */
  readonly load?: () => Promise<unknown>;
  /** Sets absent fields. Must be idempotent, because it may run several times on one object. */
  readonly applyDefaults: (object: T) => void;
  /**
   * Called before the validation of a create: removes fields that clients cannot set (except `status`, which is already
   * removed) and allocates values.
   */
  readonly prepareCreate: (object: T, context: StrategyContext) => void;
  /** Called before the validation of an update of the main resource. */
  readonly prepareUpdate: (object: T, old: T, context: StrategyContext) => void;
  /**
   * Members of the metadata that an update of `status` does not change: they keep their values, and no manager owns
   * them through it. Default: none.
   */
  readonly keptInStatus?: readonly (keyof ObjectMeta)[];
  /**
   * Fields that no manager owns through a write, because the write does not change them: paths of members by
   * subresource, `''` for the object itself. `status` of the object itself and all but status and metadata in writes of
   * `status` need not be listed. Default: none.
   */
  readonly unownedFields?: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Called for an update of `status` before mutators, and again before its validation. */
  readonly prepareStatus: (object: T, old: T, context: StrategyContext) => void;
  /** All violations of a create, which are sent in one answer. */
  readonly validateCreate: (object: T, context: StrategyContext) => readonly Violation[];
  /** All violations of an update of the main resource. */
  readonly validateUpdate: (object: T, old: T, context: StrategyContext) => readonly Violation[];
  /** All violations of an update of `status`. */
  readonly validateStatus: (object: T, old: T, context: StrategyContext) => readonly Violation[];
  /**
   * Values that must be unique among the objects of the resource, such as addresses and ports. A check with `list` is
   * not sufficient, because two writes may be validated at the same time. The store refuses the second one, which is
   * then validated again. At most `OBJECT_CLAIMS` values of an object are used.
   */
  readonly claims?: (object: T) => readonly string[];
  /**
   * Objects of other kinds that exist as long as an object of this one does and the function returns them: they are
   * created and removed with the write that changes this, in one transaction, in the name of the server and without
   * admission. The objects have no `apiVersion` and `kind`. If one exists already, the write is validated again; the
   * validation must refuse objects that cannot be created.
   */
  readonly companions?: (object: T) => readonly { readonly storageName: string; readonly object: Companion }[];

  /**
   * Subresources whose bodies contain credentials; '' is the resource itself. Audit events never contain these bodies,
   * whatever the audit policy says.
   */
  readonly confidential?: readonly string[];

  // Deletion

  /** Whether a DELETE that removes the object immediately answers with the object; false: with a Status. */
  readonly returnsDeletedObject: boolean;
  /** Whether dependents are orphaned if the request has no propagation policy. */
  readonly orphansByDefault: boolean;
  /** The Warning of a delete without propagation policy. */
  readonly deletionWarning?: string;
  /** Whether the answer of a delete always has the time of the deletion, even with a grace period of 0. */
  readonly hasGrace?: boolean;
  /**
   * The grace period in seconds; 0 removes the object immediately. `asked` is the gracePeriodSeconds of the request.
   */
  readonly gracePeriod: (object: T, asked: number | undefined) => number;
  /** Called when a deletion begins and the object remains because of finalizers or a grace period. */
  readonly beginDeletion?: (object: T) => void;
  /** Finalizers that are not in the metadata. The object remains while there are any. */
  readonly extraFinalizers?: (object: T) => readonly string[];

  // Subresources

  /** Writes to subresources other than status and scale, by name: `finalize`, `approval`, `ephemeralcontainers`. */
  readonly subresources?: ReadonlyMap<string, SubresourceWrite<T>>;
  /** Creates on subresources that change the object, by name: `binding`. They are answered with a Status. */
  readonly actions?: ReadonlyMap<string, SubresourceWrite<T, ApiObject>>;
  /** Creates on subresources that delete the object, by name: `eviction`. They are answered with a Status. */
  readonly deletions?: ReadonlyMap<string, SubresourceDeletion<T>>;
  /** Creates on subresources that are answered and change nothing, by name: `token`. */
  readonly answers?: ReadonlyMap<string, SubresourceAnswer<T>>;
  /**
   * For a virtual resource: a create runs this action of the object that the body names, which belongs to another
   * resource of the same group version.
   */
  readonly actsOn?: { readonly plural: string; readonly action: string };
  /** For a kind that is never stored: returns the answer to a create that has no violations. Throws Refusal. */
  readonly review?: (object: T, context: ReviewContext) => Awaitable<T>;
  /**
   * For a kind whose objects show the decisions that the server keeps in memory: returns the object of a record.
   * `context` explains it; absent for the items of a list, which have only their records.
   */
  readonly showRecord?: (record: DecisionRecord, context: RecordContext | undefined) => Awaitable<T>;
  /** Subresources that would be forwarded, by name. */
  readonly connections?: ReadonlyMap<string, Connection<T>>;
  /** Set for kinds with a scale subresource. */
  readonly scale?: ScaleFields<T>;

  // Reads

  /** Fields that field selectors may use in addition to metadata.name and metadata.namespace. An absent value is ''. */
  readonly selectableFields: ReadonlyMap<string, (object: T) => string>;
  /** The selectable fields of a version; absent: all. */
  readonly isSelectableIn?: (field: string, apiVersion: string) => boolean;
  /** The error message for a field selector with an unknown field; absent: the common message. */
  readonly unknownFieldMessage?: (field: string) => string;
  /** Additional names that field selectors may use, with the selectable field that each stands for. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  /** The columns of Tables; absent: the name and the time of creation. */
  readonly columns?: readonly Column<T>[];
  /** Compares rows in the Table of a list, as for `Array.sort`; absent: the order of the list. */
  readonly compareRows?: (a: T, b: T) => number;
  /** The conditions of an object's row; absent: none. */
  readonly rowConditions?: (object: T) => readonly RowCondition[];
  /**
   * Converts the object from the storage version to another served version, or back; returns `object` or a new one.
   * Absent: versions differ only in their name.
   */
  readonly convert?: (object: ApiObject, toApiVersion: string) => ApiObject;
  /**
   * For kinds with a version that cannot represent everything that is stored. Restores, in an object that was converted
   * from a write in such a version, the members that the write does not change. `stored` is the object before the
   * write, and `subresource` is the written subresource, undefined for the object itself.
   */
  readonly restoreStored?: (object: T, stored: T, subresource: string | undefined) => void;
}
