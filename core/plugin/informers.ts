import type { Informer } from '../api/host.js';
import { decodeStored } from './stored.js';
import type { ApiObject } from '../model/object.js';
import { SortedMap } from '../model/sortedMap.js';
import { type Entry, storageNameIn } from '../threads/entry.js';

/** The current objects of one resource in this thread. An object is decoded when it is first read. */
class ResourceInformer implements Informer {
  readonly entries = new SortedMap<Entry>();
  readonly #decoded = new WeakMap<Entry, ApiObject>();
  revision = 0;

  constructor(
    readonly storageName: string,
    /** Applies every acknowledged change; called before each read. */
    readonly catchUp: () => void,
  ) {}

  get(namespace: string, name: string): ApiObject | undefined {
    this.catchUp();
    const entry = this.entries.get(`${this.storageName}/${namespace ? `${namespace}/` : ''}${name}`);
    return entry && this.#objectOf(entry);
  }

  list(namespace?: string): readonly ApiObject[] {
    this.catchUp();
    const entries = this.entries.range(`${this.storageName}/${namespace ? `${namespace}/` : ''}`);
    return entries.map(entry => this.#objectOf(entry));
  }

  #objectOf(entry: Entry): ApiObject {
    let object = this.#decoded.get(entry);
    if (!object) {
      object = decodeStored(entry.value);
      this.#decoded.set(entry, object);
    }
    return object;
  }
}

/** The informers of one thread. The thread applies the changes that the writer sends it. */
export class Informers {
  readonly #byName = new Map<string, ResourceInformer>();

  constructor(
    readonly catchUp: () => void,
    /** Whether objects of all resources are stored; otherwise of those that `of` was called for. */
    readonly keepAll = false,
  ) {}

  /** The informer of a storage name. */
  of(storageName: string): Informer {
    return this.#of(storageName);
  }

  /** Key prefixes to subscribe to. */
  get prefixes(): string[] {
    return Array.from(this.#byName.keys(), name => `${name}/`);
  }

  /** The current object of a key, if its resource is stored. */
  get(key: string): Entry | undefined {
    return this.#byName.get(storageNameIn(key))?.entries.get(key);
  }

  /** All objects, in no particular order. Objects that are added or deleted during the iteration may be missing. */
  *entries(): Generator<Entry> {
    for (const { entries } of this.#byName.values()) yield* entries.values();
  }

  /** Stores a current object. Objects of resources that are not stored are ignored. */
  set(entry: Entry): void {
    const name = storageNameIn(entry.key);
    const informer = this.keepAll ? this.#of(name) : this.#byName.get(name);
    if (!informer) return;
    informer.revision = entry.revision;
    informer.entries.set(entry);
  }

  /** Applies the deletion of an object. */
  delete(key: string, revision: number): void {
    const informer = this.#byName.get(storageNameIn(key));
    if (!informer) return;
    informer.revision = revision;
    informer.entries.delete(key);
  }

  #of(storageName: string): ResourceInformer {
    let informer = this.#byName.get(storageName);
    if (!informer) {
      informer = new ResourceInformer(storageName, this.catchUp);
      this.#byName.set(storageName, informer);
    }
    return informer;
  }
}
