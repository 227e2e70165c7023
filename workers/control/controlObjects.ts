import type { FoundObject, Informer, ResourceEvent } from '../../core/api/host.js';
import { EntryEvent } from '../../core/plugin/informers/entryEvent.js';
import { Informers } from '../../core/plugin/informers/informers.js';
import { type Entry, storageNameIn } from '../../core/threads/entries/entry.js';
import type { ObjectFollower } from '../../core/threads/objectFeed.js';
import { lastRevisionIn, type StartPage } from '../../core/threads/entries/startPage.js';

type Listener = (event: ResourceEvent) => void;

/**
 * Every current object, for controllers. They read objects through informers and are notified of changes. All objects
 * are kept, because the event of a deletion has the last state of the object.
 */
export class ControlObjects implements ObjectFollower {
  /** Revision of the last event. */
  revision = 0;
  readonly #informers: Informers;
  readonly #listeners: { readonly storageName: string | undefined; readonly listener: Listener }[] = [];
  /** Listeners for the changes of one resource, by its storage name. */
  readonly #listenersOf = new Map<string, readonly Listener[]>();
  #hasStarted = false;

  constructor(
    /** Applies every acknowledged change. */
    catchUp: () => void,
    /** Called for every change, before the listeners. */
    readonly onChange: (key: string) => void,
  ) {
    this.#informers = new Informers(() => catchUp(), true);
  }

  informer(storageName: string): Informer {
    return this.#informers.of(storageName);
  }

  /** See `findByUid` of the host. */
  findByUid(uids: ReadonlySet<string>): Promise<ReadonlyMap<string, FoundObject>> {
    return this.#informers.findByUid(uids);
  }

  /**
   * Adds a listener for every change, or for those of one resource. It must not throw: the host of a plugin catches its
   * errors. It first receives the current objects as ADDED: immediately, or in `start`.
   */
  listen(listener: Listener, storageName?: string): void {
    this.#listeners.push({ storageName, listener });
    this.#listenersOf.clear();
    if (this.#hasStarted) this.#replay(name => (storageName === undefined || storageName === name ? [listener] : []));
  }

  /** Notifies listeners of the current objects, and of all further changes. */
  start(): void {
    this.#hasStarted = true;
    this.#replay(name => this.#listenersFor(name));
  }

  /** Adds objects before `start`, which passes them to the listeners. Returns false for a page that is not taken. */
  addPage(page: StartPage): boolean {
    if (this.#hasStarted || !this.#informers.addPage(page)) return false;
    this.revision = Math.max(this.revision, lastRevisionIn(page));
    return true;
  }

  apply(key: string, revision: number, entry: Entry | undefined): void {
    this.revision = Math.max(this.revision, revision);
    const before = this.#informers.get(key);
    if (entry) this.#informers.set(entry);
    else this.#informers.delete(key, revision);
    this.onChange(key);
    if (!this.#hasStarted || entry?.isReadable === false) return;
    const listeners = this.#listenersFor(storageNameIn(key));
    if (entry) this.#emit(listeners, new EntryEvent(entry, before ? 'MODIFIED' : 'ADDED', revision, before));
    else if (before) this.#emit(listeners, new EntryEvent(before, 'DELETED', revision));
  }

  find(key: string): Entry | undefined {
    return this.#informers.get(key);
  }

  #listenersFor(storageName: string): readonly Listener[] {
    let found = this.#listenersOf.get(storageName);
    if (!found) {
      const wanted = this.#listeners.filter(one => one.storageName === undefined || one.storageName === storageName);
      found = wanted.map(({ listener }) => listener);
      this.#listenersOf.set(storageName, found);
    }
    return found;
  }

  #replay(listenersFor: (storageName: string) => readonly Listener[]): void {
    for (const [storageName, entries] of this.#informers.resources()) {
      const listeners = listenersFor(storageName);
      if (listeners.length === 0) continue;
      for (const entry of entries) this.#emit(listeners, new EntryEvent(entry, 'ADDED', entry.revision));
    }
  }

  #emit(listeners: readonly Listener[], event: ResourceEvent): void {
    for (const listener of listeners) listener(event);
  }
}
