import type { Informer, Log, ResourceEvent } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import { Informers } from '../../core/plugin/informers.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { BufferCompactor } from '../../core/threads/bufferCompactor.js';
import { type Entry, storageNameIn } from '../../core/threads/entry.js';
import type { ObjectFollower } from '../../core/threads/objectFeed.js';

type Listener = (event: ResourceEvent) => void;

/** `entry` is the object, or its last state if it was deleted; `revision` is the revision of the event. */
function eventOf(entry: Entry, type: ResourceEvent['type'], revision: number): ResourceEvent {
  let object: ApiObject | undefined;
  let bytes: Buffer | undefined;
  return {
    type,
    storageName: storageNameIn(entry.key),
    namespace: entry.namespace,
    name: entry.name,
    revision,
    object: () => (object ??= decodeStored(entry.value)),
    mentions: text => (bytes ??= Buffer.from(entry.buffer, entry.byteOffset, entry.length)).includes(text),
  };
}

/**
 * Every current object, for controllers. They read objects through informers and are notified of changes. All objects
 * are kept, because the event of a deletion has the last state of the object.
 */
export class ControlObjects implements ObjectFollower {
  /** Revision of the last event. */
  revision = 0;
  readonly #buffers = new BufferCompactor();
  readonly #informers: Informers;
  readonly #listeners: Listener[] = [];
  #hasStarted = false;

  constructor(
    /** Applies every acknowledged change. */
    catchUp: () => void,
    readonly log: Pick<Log, 'error'>,
    /** Called for every change, before the listeners. */
    readonly onChange: (key: string) => void,
  ) {
    this.#informers = new Informers(catchUp, true);
  }

  informer(storageName: string): Informer {
    return this.#informers.of(storageName);
  }

  /** Adds a listener for every change. It first receives the current objects as ADDED: immediately, or in `start`. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
    if (this.#hasStarted) this.#replay([listener]);
  }

  /** Notifies listeners of the current objects, and of all further changes. */
  start(): void {
    this.#hasStarted = true;
    this.#replay(this.#listeners);
  }

  apply(key: string, revision: number, entry: Entry | undefined): void {
    this.revision = Math.max(this.revision, revision);
    const before = this.#informers.get(key);
    if (before) this.#buffers.remove(before);
    if (entry) {
      this.#buffers.add(entry);
      this.#informers.set(entry);
    } else this.#informers.delete(key, revision);
    this.onChange(key);
    if (!this.#hasStarted) return;
    if (entry) this.#emit(this.#listeners, eventOf(entry, before ? 'MODIFIED' : 'ADDED', revision));
    else if (before) this.#emit(this.#listeners, eventOf(before, 'DELETED', revision));
  }

  applied(): void {
    void this.#buffers.compact(
      () => this.#informers.entries(),
      // An entry that was replaced in the meantime is no longer counted.
      entry => (this.#informers.get(entry.key) === entry ? entry : undefined),
      (entry, bytes) => entry.move(bytes),
    );
  }

  #replay(listeners: readonly Listener[]): void {
    for (const entry of this.#informers.entries()) this.#emit(listeners, eventOf(entry, 'ADDED', entry.revision));
  }

  /** If a listener throws, the error is logged. The other listeners still receive the event. */
  #emit(listeners: readonly Listener[], event: ResourceEvent): void {
    for (const listener of listeners)
      try {
        listener(event);
      } catch (error) {
        this.log.error(
          { stack: (error as Error)?.stack ?? String(error), event: event.type, of: event.storageName },
          'a controller threw an error while handling an event',
        );
      }
  }
}
