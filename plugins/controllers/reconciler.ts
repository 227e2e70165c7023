import { type ApiObject, type Controller, type Host, Refusal, type ResourceEvent } from '../../core/api/index.js';
import { pathOf } from './catalog.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAMESPACES = 'core/namespaces';
/** Objects written concurrently. */
const WORKERS = 16;

/** An object that must exist: it is created if missing, and again if deleted. */
export interface DesiredObject {
  readonly storageName: string;
  /**
   * The object in the server's naming, with its namespace if any. Its status is written if the existing one has none.
   */
  readonly object: ApiObject;
  /** Whether the object must exist in every namespace. */
  readonly inEveryNamespace?: true;
  /**
   * Returns the replacement of an existing object, or undefined if it needs no change. Without it, existing objects are
   * never changed.
   */
  readonly repair?: (found: ApiObject) => ApiObject | undefined;
}

const belongsIn = ({ inEveryNamespace, object }: DesiredObject, namespace: string): boolean =>
  inEveryNamespace ? namespace !== '' : (object.metadata.namespace ?? '') === namespace;

/** Ensures that objects exist, those in namespaces as long as their namespace is not terminating. */
export class ObjectReconciler implements Controller {
  readonly name: string;
  readonly startsAfter: readonly string[];
  readonly #host: Host<'control'>;
  /** Desired objects by storage name and name: `core/services/x`. */
  readonly #desired: ReadonlyMap<string, DesiredObject>;
  /** The names of all desired objects, to skip most events quickly. */
  readonly #names: ReadonlySet<string>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(
    host: Host<'control'>,
    name: string,
    desired: readonly DesiredObject[],
    startsAfter: readonly string[] = [],
  ) {
    this.name = name;
    this.startsAfter = startsAfter;
    this.#host = host;
    this.#desired = new Map(desired.map(entry => [`${entry.storageName}/${entry.object.metadata.name}`, entry]));
    this.#names = new Set(desired.map(({ object }) => object.metadata.name ?? ''));
    this.#requests = new Requests(host, name);
    this.#queue = new WorkQueue({ name, log: host.log, workers: WORKERS, handle: key => this.#ensure(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    for (const [key, desired] of this.#desired) if (belongsIn(desired, '')) this.#queue.add(`${key}|`);
    await this.#queue.idle();
  }

  #observe({ storageName, namespace, name, type }: ResourceEvent): void {
    if (storageName === NAMESPACES && type === 'ADDED')
      for (const [key, desired] of this.#desired) if (belongsIn(desired, name)) this.#queue.add(`${key}|${name}`);
    if (!this.#names.has(name)) return;
    const key = `${storageName}/${name}`;
    const desired = this.#desired.get(key);
    if (desired && belongsIn(desired, namespace)) this.#queue.add(`${key}|${namespace}`);
  }

  async #ensure(task: string): Promise<void> {
    const bar = task.lastIndexOf('|');
    const namespace = task.slice(bar + 1);
    const desired = this.#desired.get(task.slice(0, bar))!;
    if (!this.#acceptsObjects(namespace)) return;
    try {
      await this.#reconcile(desired, namespace);
    } catch (error) {
      // The namespace is terminating since.
      if (!this.#acceptsObjects(namespace)) return;
      if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
      // A retry is useless, for example if a Service of another naming has the same address.
      this.#host.log.warn({ object: task, error: error.message }, 'writing a system object failed');
    }
  }

  async #reconcile({ storageName, object, repair }: DesiredObject, namespace: string): Promise<void> {
    const { apiVersion, kind, metadata, status } = object;
    const found = this.#host.informer(storageName).get(namespace, metadata.name ?? '');
    if (found?.metadata.deletionTimestamp) return;
    const collection = pathOf({ apiVersion, plural: storageName.slice(storageName.indexOf('/') + 1) }, namespace);
    const path = `${collection}/${metadata.name}`;
    const repaired = found && repair?.(found);
    if (!found)
      await this.#requests.create(collection, {
        ...object,
        metadata: namespace ? { ...metadata, namespace } : metadata,
      });
    else if (repaired) await this.#requests.replace(path, { ...repaired, apiVersion, kind });
    if (status && !found?.status) await this.#requests.merge(`${path}/status`, { status });
  }

  #acceptsObjects(namespace: string): boolean {
    if (namespace === '') return true;
    const within = this.#host.informer(NAMESPACES).get('', namespace);
    return within !== undefined && !within.metadata.deletionTimestamp;
  }
}
