import type { Informer, ResourceEvent } from '../../core/api/host.js';
import { EntryEvent } from '../../core/plugin/entryEvent.js';
import { Informers } from '../../core/plugin/informers.js';
import type { Entry } from '../../core/threads/entry.js';
import type { ObjectFollower } from '../../core/threads/objectFeed.js';
import { lastRevisionIn, type SnapshotPage } from '../../core/threads/snapshot.js';

type Listener = (event: ResourceEvent) => void;

/**
 * Every current object, for controllers. They read objects through informers and are notified of changes. All objects
 * are kept, because the event of a deletion has the last state of the object.
 */
export class ControlObjects implements ObjectFollower {
  /** Revision of the last event. */
  revision = 0;
  readonly #informers: Informers;
  readonly #listeners: Listener[] = [];
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

  /**
   * Adds a listener for every change, which must not throw: the host of a plugin catches its errors. It first receives
   * the current objects as ADDED: immediately, or in `start`.
   */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
    if (this.#hasStarted) this.#replay([listener]);
  }

  /** Notifies listeners of the current objects, and of all further changes. */
  start(): void {
    this.#hasStarted = true;
    this.#replay(this.#listeners);
  }

  /** Objects that are here before anybody is notified are read when `start` replays them. */
  addPage(page: SnapshotPage): boolean {
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
    if (!this.#hasStarted) return;
    if (entry) this.#emit(this.#listeners, new EntryEvent(entry, before ? 'MODIFIED' : 'ADDED', revision));
    else if (before) this.#emit(this.#listeners, new EntryEvent(before, 'DELETED', revision));
  }

  find(key: string): Entry | undefined {
    return this.#informers.get(key);
  }

  #replay(listeners: readonly Listener[]): void {
    for (const entry of this.#informers.entries())
      this.#emit(listeners, new EntryEvent(entry, 'ADDED', entry.revision));
  }

  #emit(listeners: readonly Listener[], event: ResourceEvent): void {
    for (const listener of listeners) listener(event);
  }
}
