import type { FoundObject, LabeledInformer, ResourceEvent } from '../../api/host.js';
import { LABEL_INDEXES } from '../../limits.js';
import { reasonOf, unreadable } from '../../threads/entries/unreadable.js';
import { EntryEvent } from './entryEvent.js';
import { LabelIndex } from './labelIndex.js';
import { decodeShared, uidIn } from './stored.js';
import type { ApiObject } from '../../model/object.js';
import { type Entry, storageNameIn } from '../../threads/entries/entry.js';
import { EntryMap } from '../../threads/entries/entryMap.js';
import { lastRevisionIn, PageReader, type StartPage } from '../../threads/entries/startPage.js';
import { nextTurn } from '../../runtime/timers.js';

/** Objects that are searched before other work is served; they take some milliseconds. */
const SEARCHED_IN_A_TURN = 4096;

/** The current objects of one resource in this thread. An object is decoded when it is first read. */
class ResourceInformer implements LabeledInformer {
  readonly entries = new EntryMap();
  /**
   * The reasons why objects cannot be read, by key. A read of such an object fails, so that no decision is made without
   * it. Its last readable version stays among the entries, and listeners are not called.
   */
  readonly unreadable = new Map<string, string>();
  readonly listeners: ((event: ResourceEvent) => void)[] = [];
  readonly #decoded = new WeakMap<Entry, ApiObject>();
  /** By label. */
  readonly #indexes = new Map<string, LabelIndex>();
  revision = 0;

  constructor(
    readonly storageName: string,
    /** Applies every acknowledged change to objects of the resource; called before each read. */
    readonly catchUp: (storageName: string) => void,
  ) {}

  get(namespace: string, name: string): ApiObject | undefined {
    this.catchUp(this.storageName);
    const key = `${this.storageName}/${namespace ? `${namespace}/` : ''}${name}`;
    const reason = this.unreadable.get(key);
    if (reason !== undefined) throw unreadable({ key, reason });
    const entry = this.entries.get(key);
    return entry && this.#objectOf(entry);
  }

  list(namespace?: string): readonly ApiObject[] {
    this.catchUp(this.storageName);
    return this.#entriesIn(namespace ?? '').map(entry => this.#objectOf(entry));
  }

  labeled(namespace: string, label: string, value: string): readonly ApiObject[] {
    this.catchUp(this.storageName);
    this.#checkReadable(namespace);
    const index = this.#indexOf(label);
    const objectOf = (key: string): ApiObject | undefined => {
      const entry = this.entries.get(key);
      return entry && this.#objectOf(entry);
    };
    if (index) return index.find(namespace, value, objectOf).map(key => objectOf(key)!);
    return this.list(namespace).filter(({ metadata: { labels } }) => {
      return labels && Object.hasOwn(labels, label) && labels[label] === value;
    });
  }

  listFirst(namespace: string, bytes: number): ReturnType<LabeledInformer['listFirst']> {
    this.catchUp(this.storageName);
    const entries = this.#entriesIn(namespace);
    const objects: ApiObject[] = [];
    let left = bytes;
    for (const entry of entries) {
      left -= entry.length;
      if (left < 0) break;
      objects.push(this.#decoded.get(entry) ?? decodeShared(entry.value));
    }
    return { objects, total: entries.length };
  }

  /**
   * Adds a page of objects without parsing them. Returns false, and adds none, if listeners or indexes need each
   * object.
   */
  addPage(page: StartPage): boolean {
    if (this.listeners.length > 0 || this.#indexes.size > 0 || !this.entries.addPage(page)) return false;
    this.revision = Math.max(this.revision, lastRevisionIn(page));
    return true;
  }

  /** To be called after every change. */
  changed(key: string): void {
    for (const [label, index] of this.#indexes) if (!index.change(key)) this.#indexes.delete(label);
  }

  /** The index of a label; undefined if there are too many others. */
  #indexOf(label: string): LabelIndex | undefined {
    const known = this.#indexes.get(label);
    if (known || this.#indexes.size >= LABEL_INDEXES) return known;
    const index = new LabelIndex(
      label,
      Array.from(this.entries.values(), ({ key }) => key),
    );
    this.#indexes.set(label, index);
    return index;
  }

  #entriesIn(namespace: string): Entry[] {
    this.#checkReadable(namespace);
    return this.entries.range(this.#prefixOf(namespace));
  }

  #prefixOf(namespace: string): string {
    return `${this.storageName}/${namespace ? `${namespace}/` : ''}`;
  }

  /** Throws Refusal 500 if an object of the namespace cannot be read. */
  #checkReadable(namespace: string): void {
    const prefix = this.#prefixOf(namespace);
    for (const [key, reason] of this.unreadable) if (key.startsWith(prefix)) throw unreadable({ key, reason });
  }

  #objectOf(entry: Entry): ApiObject {
    let object = this.#decoded.get(entry);
    if (!object) {
      object = decodeShared(entry.value);
      this.#decoded.set(entry, object);
    }
    return object;
  }
}

/** The informers of one thread. The thread applies the changes that the writer sends it. */
export class Informers {
  readonly #byName = new Map<string, ResourceInformer>();

  constructor(
    readonly catchUp: (storageName: string) => void,
    /** Whether objects of all resources are stored; otherwise only of those for which `of` was called. */
    readonly keepAll = false,
  ) {}

  /** The informer of a storage name. */
  of(storageName: string): LabeledInformer {
    return this.#of(storageName);
  }

  /** Whether objects of this resource are stored. */
  has(storageName: string): boolean {
    return this.keepAll || this.#byName.has(storageName);
  }

  /**
   * Calls a listener for every change of a resource, beginning with the current objects. It must not throw: the thread
   * would end.
   */
  onChange(storageName: string, listener: (event: ResourceEvent) => void): void {
    const informer = this.#of(storageName);
    informer.listeners.push(listener);
    for (const entry of informer.entries.values()) listener(new EntryEvent(entry, 'ADDED', entry.revision));
  }

  /** Key prefixes to subscribe to. */
  get prefixes(): string[] {
    return Array.from(this.#byName.keys(), name => `${name}/`);
  }

  /** The prefixes of resources that have listeners. */
  get prefixesWithListeners(): string[] {
    const followed = [...this.#byName.values()].filter(({ listeners }) => listeners.length > 0);
    return followed.map(({ storageName }) => `${storageName}/`);
  }

  /** The current object of a key, if its resource is stored. */
  get(key: string): Entry | undefined {
    return this.#byName.get(storageNameIn(key))?.entries.get(key);
  }

  /**
   * The objects of each resource, in no particular order. Objects that are added or deleted during the iteration may be
   * missing.
   */
  *resources(): Generator<[storageName: string, entries: Iterable<Entry>]> {
    for (const [storageName, { entries }] of this.#byName) yield [storageName, entries.values()];
  }

  /**
   * The objects that have one of these uids, by uid. All objects are searched, without decoding them, in several turns
   * of the event loop.
   */
  async findByUid(uids: ReadonlySet<string>): Promise<ReadonlyMap<string, FoundObject>> {
    const found = new Map<string, FoundObject>();
    let searched = 0;
    for (const [storageName, entries] of this.resources())
      for (const entry of entries) {
        const uid = uidIn(entry.value);
        if (uid !== undefined && uids.has(uid)) {
          found.set(uid, { storageName, namespace: entry.namespace, name: entry.name });
          if (found.size === uids.size) return found;
        }
        if (++searched % SEARCHED_IN_A_TURN === 0) await nextTurn();
      }
    return found;
  }

  /** Stores a current object. Objects of resources that are not stored are ignored. */
  set(entry: Entry): void {
    const name = storageNameIn(entry.key);
    const informer = this.keepAll ? this.#of(name) : this.#byName.get(name);
    if (!informer) return;
    informer.revision = entry.revision;
    if (!entry.isReadable) {
      informer.unreadable.set(entry.key, reasonOf(entry.value));
      return;
    }
    informer.unreadable.delete(entry.key);
    const before = informer.listeners.length > 0 ? informer.entries.get(entry.key) : undefined;
    const type = before ? 'MODIFIED' : 'ADDED';
    informer.entries.set(entry);
    informer.changed(entry.key);
    for (const listener of informer.listeners) listener(new EntryEvent(entry, type, entry.revision, before));
  }

  /**
   * Stores the current objects of a page without reading them. Returns false, and stores nothing, if the page has
   * unreadable objects or objects of several resources, or if their resource already has listeners or other objects.
   * They must then be added with `set`.
   */
  addPage(page: StartPage): boolean {
    if (page.count === 0) return true;
    const reader = new PageReader(page);
    if (!reader.isReadable) return false;
    const name = storageNameIn(reader.keyAt(0));
    // Keys are in order.
    if (storageNameIn(reader.keyAt(page.count - 1)) !== name) return false;
    const informer = this.keepAll ? this.#of(name) : this.#byName.get(name);
    if (!informer) return true;
    return informer.addPage(page);
  }

  /** Applies the deletion of an object. */
  delete(key: string, revision: number): void {
    const informer = this.#byName.get(storageNameIn(key));
    if (!informer) return;
    const before = informer.listeners.length > 0 ? informer.entries.get(key) : undefined;
    informer.revision = revision;
    informer.unreadable.delete(key);
    informer.entries.delete(key);
    informer.changed(key);
    if (before) for (const listener of informer.listeners) listener(new EntryEvent(before, 'DELETED', revision));
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

/** Informers of resources that a thread begins to follow while it runs. */
export class DynamicInformers {
  readonly #loading = new Map<string, Promise<LabeledInformer>>();

  constructor(
    readonly informers: Informers,
    /** Resolves when all current objects with the prefixes have been stored. */
    readonly subscribe: (prefixes: readonly string[]) => Promise<void>,
  ) {}

  /** The informer of a storage name, or a promise of it until it has all current objects. */
  of(storageName: string): LabeledInformer | Promise<LabeledInformer> {
    const loading = this.#loading.get(storageName);
    if (loading) return loading;
    if (this.informers.has(storageName)) return this.informers.of(storageName);
    const informer = this.informers.of(storageName);
    const loaded = this.subscribe([`${storageName}/`]).then(() => {
      this.#loading.delete(storageName);
      return informer;
    });
    this.#loading.set(storageName, loaded);
    return loaded;
  }
}
