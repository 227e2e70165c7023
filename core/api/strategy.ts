import type { ApiObject } from '../model/object.js';
import type { Refusal, Violation } from '../model/refusal.js';
import type { User } from '../model/user.js';

/** What a strategy may know about the request. `now` is RFC 3339 in whole seconds. */
export interface Rules {
  readonly now: string;
  readonly user: User;
  readonly dryRun: boolean;
  /**
   * Current object by storage name, namespace and name, from the informers of this thread; undefined if absent or not
   * watched.
   */
  lookup(storageName: string, namespace: string, name: string): ApiObject | undefined;
  /** All current objects of one resource, from the same informers; the strategy's `looksAt` names it. */
  list(storageName: string): readonly ApiObject[];
  /** Adds a Warning header to the answer. */
  warn?(text: string): void;
}

/** A printed column of a Table. Priority 0 is always shown. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
  readonly description: string;
  /** The cell: string, number, boolean or null. `now` in milliseconds since the epoch. */
  cell(object: ApiObject, now: number): string | number | boolean | null;
}

/** Condition of a row of a Table: tells clients that what it shows has ended. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** How DELETE answers when it removed the object at once. */
export type DeleteAnswer = 'status' | 'object';

/**
 * The rules of one kind: all that the generic path cannot derive from its schema. Every member is optional in
 * `defineStrategy`; the defaults are those of a plain object with a DNS-1123 subdomain name. Strategies are pure and
 * synchronous; they receive decoded, schema-checked objects.
 */
export interface Strategy {
  /** Complaints about `metadata.name` (or, with `prefix`, about a generateName), empty if good. */
  readonly checkName: (name: string, prefix: boolean) => readonly string[];
  /** Finalizers may have any qualified name; absent: those without a domain must be the standard ones. */
  readonly anyFinalizer?: boolean;
  /**
   * `metadata.generation` is kept: 1 on create, raised when something outside metadata and status changed (see
   * `changed`).
   */
  readonly hasGeneration: boolean;
  /** Whether an update raises the generation; absent: anything outside metadata and status differs. */
  readonly changed?: (object: ApiObject, old: ApiObject) => boolean;
  /** Main resource writes keep `status`, status writes keep all else. */
  readonly hasStatus: boolean;
  /** A create keeps the status it came with: whoever makes the object is who reports on it. */
  readonly keepsStatus?: boolean;
  /** PUT on an absent name creates. */
  readonly createOnUpdate: boolean;
  /** PUT and PATCH without resourceVersion are accepted. */
  readonly unconditionalUpdate: boolean;
  readonly deleteAnswer: DeleteAnswer;
  /** Propagation when the client names none. */
  readonly orphansByDefault: boolean;
  /** Objects of the kind cannot be owners: what a client says of dependents is read over. */
  readonly ownsNothing?: boolean;
  /** Fills in absent fields; runs on every decode of a written object, before validation. Must be idempotent. */
  readonly defaults: (object: ApiObject) => void;
  /**
   * Before validation of a create: clears what clients may not set (status is cleared by the generic path), allocates.
   */
  readonly prepareCreate: (object: ApiObject, rules: Rules) => void;
  /** Before validation of an update of the main resource. */
  readonly prepareUpdate: (object: ApiObject, old: ApiObject, rules: Rules) => void;
  /** Before validation of an update of `status`. */
  readonly prepareStatus: (object: ApiObject, old: ApiObject, rules: Rules) => void;
  /** Awaited before the rules are asked about an object: loads what they need and few servers use. */
  readonly load?: () => Promise<unknown>;
  readonly validateCreate: (object: ApiObject, rules: Rules) => readonly Violation[];
  readonly validateUpdate: (object: ApiObject, old: ApiObject, rules: Rules) => readonly Violation[];
  readonly validateStatus: (object: ApiObject, old: ApiObject, rules: Rules) => readonly Violation[];
  /** Called when a deletion begins and the object stays for now (finalizers, grace): what the kind shows then. */
  readonly onDeletion?: (object: ApiObject) => void;
  /** Warning of a delete that names no propagation policy. */
  readonly deletionWarning?: string;
  /** Finalizers the kind keeps outside of metadata; while there are any, the object stays. */
  readonly heldBy?: (object: ApiObject) => readonly string[];
  /**
   * Writes of subresources other than status and scale, by name (`finalize`, `approval`, `ephemeralcontainers`):
   * receives the body's object and the current one and returns the object to store.
   */
  readonly subresources?: ReadonlyMap<string, (body: ApiObject, current: ApiObject, rules: Rules) => ApiObject>;
  /** Creates on subresources that change the object (`binding`): as above, but the answer is a Status. */
  readonly actions?: ReadonlyMap<string, (body: ApiObject, current: ApiObject, rules: Rules) => ApiObject>;
  /**
   * For a virtual resource: a create on it is this action of the object that the body names, of another resource of its
   * group version.
   */
  readonly actsOn?: { readonly plural: string; readonly action: string };
  /**
   * By subresource that leads away from the server (`exec`, `log`, `proxy`): what refuses it for this object, `empty`
   * where there is nothing to read yet; undefined, or no entry: it would have to be connected, which the server does
   * not do.
   */
  readonly connections?: ReadonlyMap<
    string,
    (object: ApiObject, query: ReadonlyMap<string, readonly string[]>) => Refusal | 'empty' | undefined
  >;
  /** The kind is removed in grace: what a delete shows carries when it ended, also where the grace is 0. */
  readonly hasGrace?: boolean;
  /** Seconds of grace before removal; 0 removes at once. `asked` is the client's gracePeriodSeconds. */
  readonly gracePeriod: (object: ApiObject, asked: number | undefined) => number;
  /** Selectable fields beyond metadata.name and metadata.namespace. Values are strings; absent is ''. */
  readonly selectableFields: ReadonlyMap<string, (object: ApiObject) => string>;
  /** Which of them a version knows; absent: all. */
  readonly selectableIn?: (field: string, apiVersion: string) => boolean;
  /** Refusal of a field selector that the kind does not know; absent: the text of most kinds. */
  readonly unknownField?: (field: string) => string;
  /** Extra field labels accepted in selectors although no object carries them, and labels rewritten to others. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  readonly columns?: readonly Column[];
  /** Order of the rows where a list is shown as a Table; absent: that of the list. */
  readonly rowOrder?: (a: ApiObject, b: ApiObject) => number;
  /** Conditions of an object's row; absent: none. */
  readonly rowConditions?: (object: ApiObject) => readonly RowCondition[];
  /** Storage names of other resources that `rules` are asked about. */
  readonly looksAt?: readonly string[];
  /**
   * What no two objects of the resource may hold at once (addresses, ports). Judging by `list` is not enough: two
   * writes may be judged at the same time. The store refuses the second, which is then judged again. At most
   * `OBJECT_CLAIMS` of an object are kept.
   */
  readonly claims?: (object: ApiObject) => readonly string[];
  /** Where the scale subresource reads and writes, by JSON path segments. */
  readonly scale?: {
    readonly spec: readonly string[];
    readonly status: readonly string[];
    readonly selector: (object: ApiObject) => string;
    /** What a read calls the scale of an object that there is not; absent: as the object. */
    readonly missing?: { readonly group: string; readonly resource: string };
    /**
     * What a read is told where nothing stands at `spec`; absent: it shows none. The kind's own rules then judge the
     * counts, too.
     */
    readonly absent?: string;
  };
  /**
   * Converts between served versions: from the storage version to `apiVersion` and back. Absent: versions are equal but
   * for the name.
   */
  readonly convert?: (object: ApiObject, toApiVersion: string) => ApiObject;
}
