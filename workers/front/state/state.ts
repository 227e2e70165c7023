import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import type { LiveRegistry } from '../../../core/schema/registry/live.js';
import type { GroupVersion, Registry, Resource } from '../../../core/schema/resource.js';
import type { FedMessage, FromWriter, MovedMessage, Verdict } from '../../../core/threads/messages/messages.js';
import { type Entry, storageNameIn } from '../../../core/threads/entries/entry.js';
import { BufferCompactor } from '../../../core/threads/entries/bufferCompactor.js';
import { moveValues } from '../../../core/threads/objectFeed.js';
import { readStartPage } from '../../../core/threads/entries/startPage.js';
import type { WireEvent } from '../../../core/threads/messages/wireEvent.js';
import { type Change, Collection } from './collection.js';
import { History } from './history.js';
import { Loading } from './loading.js';
import { reasonOf, type UnreadableObject } from '../../../core/threads/entries/unreadable.js';
import type { ApiObject } from '../../../core/model/object.js';

const resourcesOf = (registry: Registry): Resource[] =>
  [...registry.groups.values()].flatMap(group => group.versions.flatMap(version => [...version.resources.values()]));

/** The cache of all current objects, updated by the messages of the writer. */
export class State {
  readonly collections = new Map<string, Collection>();
  readonly history: History;
  /** The collections that are complete. */
  readonly loading = new Loading();
  revision = 0;
  /** Undefined in threads that do not move values. */
  readonly #buffers: BufferCompactor | undefined;
  /** The group versions that `adopt` has seen. */
  readonly #adopted = new WeakSet<GroupVersion>();
  #isPartlyLoaded = false;
  readonly #waiting = new Set<{ readonly revision: number; readonly wake: () => void }>();

  constructor(
    /** Receives every event before a request that depends on it is answered. */
    readonly live: LiveRegistry,
    readonly now: () => number,
    readonly onChange: (change: Change) => void,
    readonly onVerdicts: (verdicts: readonly Verdict[]) => void,
    /** Takes the writer's answers to requests of the front end. */
    readonly onAnswer: (message: Extract<FromWriter, { requestId: number }>) => void,
    /** Called with the values that were moved, for the other threads; undefined where another thread moves them. */
    readonly onMoved: ((message: MovedMessage) => void) | undefined,
    /** How long changes are remembered. */
    historyMs: number,
    /** Called with each object that cannot be read. */
    readonly onUnreadable: (object: UnreadableObject) => void = () => undefined,
    /** Called with the key of an object that was deleted and could never be read here: its last event is not known. */
    readonly onLost: (collection: Collection, key: string) => void = () => undefined,
  ) {
    this.history = new History(0, historyMs);
    if (onMoved) this.#buffers = new BufferCompactor();
    const registry = live.current;
    // Virtual kinds that can be listed (component statuses) are collections without objects.
    const served = resourcesOf(registry);
    for (const resource of [...registry.stored, ...served.filter(r => !r.stored && r.verbs.includes('list'))]) {
      const { storageName, strategy } = resource;
      this.collections.set(storageName, new Collection(storageName, strategy.selectableFields));
    }
  }

  /** An object that cannot be read; undefined if there is none. */
  get unreadable(): UnreadableObject | undefined {
    for (const { unreadable } of this.collections.values())
      for (const [key, { value }] of unreadable) return { key, reason: reasonOf(value) };
    return undefined;
  }

  /** The current object of a key. */
  find(key: string): Entry | undefined {
    return this.collections.get(storageNameIn(key))?.entries.get(key);
  }

  /** Adds the collections of new kinds, and updates the selectable fields of custom kinds that have changed. */
  adopt(registry: Registry): void {
    const fields = new Map<string, Map<string, (object: ApiObject) => string>>();
    for (const { versions } of registry.groups.values()) {
      // All versions of a kind that has changed are new.
      if (versions.every(version => this.#adopted.has(version))) continue;
      for (const version of versions) {
        this.#adopted.add(version);
        for (const { builtIn, storageName, strategy } of version.resources.values())
          if (!builtIn)
            fields.set(storageName, new Map([...(fields.get(storageName) ?? []), ...strategy.selectableFields]));
      }
    }
    for (const [storageName, selectable] of fields) {
      if (!this.collections.has(storageName)) this.collections.set(storageName, new Collection(storageName, new Map()));
      this.collections.get(storageName)!.select(selectable);
    }
  }

  take(message: FedMessage): void {
    switch (message.is) {
      case 'startPage':
        readStartPage(message.page, entry => this.#load(entry));
        this.revision = message.revision;
        this.history.floor = message.revision;
        if (message.last) this.#complete([]);
        else if (message.missing) this.#complete(message.missing);
        return;
      case 'events':
        for (const event of message.events) this.#apply(event);
        this.#tidy();
        // A message that only wakes the thread has no revision.
        this.revision = Math.max(this.revision, message.revision);
        if (message.floor !== undefined) this.history.floor = message.floor;
        this.live.rebuild();
        this.onVerdicts(message.verdicts);
        this.#wake();
        return;
      case 'moved':
        moveValues(message, key => this.find(key));
        return;
      default:
        this.onAnswer(message);
    }
  }

  /** Resolves with true once `revision` has been seen, with false after `ms` milliseconds. */
  reaches(revision: number, ms: number): Promise<boolean> {
    if (this.revision >= revision) return Promise.resolve(true);
    return new Promise(resolve => {
      const waiting = {
        revision,
        wake: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve(this.revision >= revision);
        },
      };
      const timer = setTimeout(waiting.wake, ms);
      this.#waiting.add(waiting);
    });
  }

  /**
   * All collections are complete except those with the prefixes `missing`, some of whose objects may be here. Deletions
   * before the start are not known, so every collection counts as changed at this revision.
   */
  #complete(missing: readonly string[]): void {
    if (!this.#isPartlyLoaded) {
      this.#isPartlyLoaded = true;
      for (const collection of this.collections.values()) collection.revision = this.revision;
      this.live.markOlderObjects(name => (this.collections.get(name)?.entries.size ?? 0) > 0, this.revision);
    }
    this.live.rebuild();
    this.loading.complete(missing.map(prefix => storageNameIn(prefix)));
  }

  /** Objects may arrive before the definition of their kind: all come in the order of their keys. */
  #collectionOf(key: string): Collection {
    const name = storageNameIn(key);
    let collection = this.collections.get(name);
    if (!collection) {
      collection = new Collection(name, new Map());
      this.collections.set(name, collection);
    }
    return collection;
  }

  #load(entry: Entry): void {
    const collection = this.#collectionOf(entry.key);
    if (!entry.isReadable) {
      collection.setUnreadable(entry);
      this.onUnreadable({ key: entry.key, reason: reasonOf(entry.value) });
      return;
    }
    // Pages that are read again may contain objects that could not be read before.
    collection.unreadable.delete(entry.key);
    this.live.apply(entry);
    const { entries } = collection;
    const before = entries.get(entry.key);
    if (before) this.#buffers?.remove(before);
    this.#buffers?.add(entry);
    entries.set(entry);
  }

  #apply(event: WireEvent): void {
    const collection = this.#collectionOf(event.key);
    const wasUnreadable = collection.unreadable.has(event.key);
    const change = collection.apply(event);
    if (collection.unreadable.has(event.key)) this.onUnreadable({ key: event.key, reason: reasonOf(event.value!) });
    else this.live.apply(event);
    if (!change) {
      if (wasUnreadable && !event.value) this.#lose(collection, event);
      return;
    }
    if (change.before) this.#buffers?.remove(change.before);
    if (change.after) this.#buffers?.add(change.after);
    this.history.add(change, this.now());
    this.onChange(change);
  }

  /** Watches that resume before the deletion of an unreadable object find it in the store, and end. */
  #lose(collection: Collection, { key, revision }: WireEvent): void {
    this.history.floor = Math.max(this.history.floor, revision);
    this.onLost(collection, key);
  }

  #tidy(): void {
    void this.#buffers?.compact<Entry>({
      items: () => this.#entries(),
      // An entry that was replaced since no longer counts.
      valueIn: entry => (this.#collectionOf(entry.key).entries.get(entry.key) === entry ? entry : undefined),
      move: (entry, bytes) => entry.move(bytes),
      moved: ({ memory, items }) =>
        this.onMoved?.({
          is: 'moved',
          memory,
          keys: items.map(({ key }) => key),
          places: items.map(({ revision, byteOffset }) => [revision, byteOffset]),
        }),
    });
  }

  *#entries(): Generator<Entry> {
    for (const collection of this.collections.values()) yield* collection.entries.values();
  }

  #wake(): void {
    for (const { revision, wake } of this.#waiting) if (revision <= this.revision) wake();
  }
}
