import { type ApiObject, type Controller, type Host, Refusal, type ResourceEvent } from '../../core/api/index.js';
import { pathOf } from './catalog.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAMESPACES = 'core/namespaces';
/** Objects written at a time. */
const WORKERS = 16;

/** An object that is kept in being: created where it is missing, again when it is deleted. */
export interface Kept {
  readonly storageName: string;
  /**
   * In the names the server speaks, with its namespace if it has one. Its status, if any, is written when the one found
   * has none.
   */
  readonly object: ApiObject;
  /** It is kept in every namespace. */
  readonly everywhere?: true;
  /** What is to replace the object found, undefined if that will do; absent: whatever has the name will do. */
  readonly mended?: (found: ApiObject) => ApiObject | undefined;
}

const isIn = ({ everywhere, object }: Kept, namespace: string): boolean =>
  everywhere ? namespace !== '' : (object.metadata.namespace ?? '') === namespace;

/** Keeps objects in being, those in namespaces while their namespace is there and not being deleted. */
export class Keeper implements Controller {
  readonly name: string;
  readonly #host: Host;
  /** By storage name and name: `core/services/x`. */
  readonly #kept: ReadonlyMap<string, Kept>;
  /** Names of all of them: most events are of other objects. */
  readonly #names: ReadonlySet<string>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host, name: string, kept: readonly Kept[]) {
    this.name = name;
    this.#host = host;
    this.#kept = new Map(kept.map(one => [`${one.storageName}/${one.object.metadata.name}`, one]));
    this.#names = new Set(kept.map(({ object }) => object.metadata.name ?? ''));
    this.#requests = new Requests(host, name);
    this.#queue = new WorkQueue({ name, log: host.log, workers: WORKERS, handle: key => this.#ensure(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    for (const [key, kept] of this.#kept) if (isIn(kept, '')) this.#queue.add(`${key}|`);
    await this.#queue.idle();
  }

  #observe({ storageName, namespace, name, type }: ResourceEvent): void {
    if (storageName === NAMESPACES && type === 'ADDED')
      for (const [key, kept] of this.#kept) if (isIn(kept, name)) this.#queue.add(`${key}|${name}`);
    if (!this.#names.has(name)) return;
    const key = `${storageName}/${name}`;
    const kept = this.#kept.get(key);
    if (kept && isIn(kept, namespace)) this.#queue.add(`${key}|${namespace}`);
  }

  async #ensure(task: string): Promise<void> {
    const bar = task.lastIndexOf('|');
    const namespace = task.slice(bar + 1);
    const kept = this.#kept.get(task.slice(0, bar))!;
    if (!this.#canHold(namespace)) return;
    try {
      await this.#put(kept, namespace);
    } catch (error) {
      // The namespace began to go meanwhile: nothing is wanted in it any more.
      if (!this.#canHold(namespace)) return;
      if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
      // Refused for good, as an address that the Service of another naming has.
      this.#host.log.warn({ object: task, error: error.message }, 'an object that clients expect cannot be written');
    }
  }

  async #put({ storageName, object, mended }: Kept, namespace: string): Promise<void> {
    const { apiVersion, kind, metadata, status } = object;
    const found = this.#host.informer(storageName).get(namespace, metadata.name ?? '');
    if (found?.metadata.deletionTimestamp) return;
    const collection = pathOf({ apiVersion, plural: storageName.slice(storageName.indexOf('/') + 1) }, namespace);
    const path = `${collection}/${metadata.name}`;
    const better = found && mended?.(found);
    if (!found)
      await this.#requests.create(collection, {
        ...object,
        metadata: namespace ? { ...metadata, namespace } : metadata,
      });
    else if (better) await this.#requests.replace(path, { ...better, apiVersion, kind });
    if (status && !found?.status) await this.#requests.merge(`${path}/status`, { status });
  }

  #canHold(namespace: string): boolean {
    if (namespace === '') return true;
    const within = this.#host.informer(NAMESPACES).get('', namespace);
    return within !== undefined && !within.metadata.deletionTimestamp;
  }
}
