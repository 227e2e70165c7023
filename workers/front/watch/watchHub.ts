import type { ResponseStream } from '../../../core/api/listener.js';
import {
  BOOKMARK_MS,
  LAST_BOOKMARK_MS,
  LIST_SLICE_BYTES,
  STALLED_READER_MS,
  WATCH_BACKLOG_BYTES,
} from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { withRevision } from '../../../core/plugin/informers/stored.js';
import { clearTimeout, setImmediate, setInterval, setTimeout } from '../../../core/runtime/timers.js';
import { Entry } from '../../../core/threads/entries/entry.js';
import type { Change, Collection } from '../state/collection.js';
import type { Selection } from '../reads/selection.js';

/** Types of watch event (spec, "Watch event"; DELETED as clients expect it). */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** How events of one form (JSON of the stored version, a Table, YAML …) are encoded. */
export interface EventForm {
  /** Equal keys share encodings. */
  readonly key: string;
  readonly mediaType: string;
  /** Synchronous if the bytes are available, else a promise. `entry`: the object, if it is as stored. */
  encode(type: EventType, object: Uint8Array, header: boolean, entry?: Entry): Uint8Array | Promise<Uint8Array>;
  /** Many at once, where that is cheaper than one after another; `header` is about the first. */
  encodeAll?(events: readonly ObjectEvent[], header: boolean): Promise<readonly Uint8Array[]>;
  /** A BOOKMARK at that revision; `initialEnd` marks the end of the initial events. */
  bookmark(revision: number, initialEnd: boolean, header: boolean): Uint8Array | Promise<Uint8Array>;
  /** An ERROR event holding a Status. */
  error(refusal: Refusal): Uint8Array;
  /** The first event of a stream differs (Table columns). */
  readonly firstDiffers: boolean;
}

const OBJECT = {
  ADDED: '{"type":"ADDED","object":',
  MODIFIED: '{"type":"MODIFIED","object":',
  DELETED: '{"type":"DELETED","object":',
} as const;
const OPENINGS = new Map(Object.entries(OBJECT).map(([type, text]) => [type, Buffer.from(text)]));
const CLOSE = Buffer.from('}\n');

/** `{"type":…,"object":…}` around bytes that are JSON already. */
export const jsonEvent = (type: EventType, object: Uint8Array): Buffer =>
  Buffer.concat([OPENINGS.get(type)!, object, CLOSE]);

/** An event before it is encoded: its type, and the bytes of the object. */
export interface ObjectEvent {
  readonly type: EventType;
  readonly object: Uint8Array;
  /** The object, where it is as it is stored. */
  readonly entry?: Entry;
}

/** The event that a change is for a selection; objects that begin or cease to match are ADDED and DELETED. */
export function eventFor(selection: Selection, change: Change): ObjectEvent | undefined {
  const { collection, before, after } = change;
  const was = before !== undefined && selection.matches(collection, before);
  const is = after !== undefined && selection.matches(collection, after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after.value, entry: after };
  if (was) return { type: 'DELETED', object: deletedBytes(change, before) };
  return undefined;
}

/**
 * The Status of an event that could not be encoded: the pool's refusal. That of a failed conversion has no `reason`,
 * which clients expect in ERROR events, so that it becomes an InternalError.
 */
function unencodable(thrown: unknown): Refusal {
  if (!(thrown instanceof Refusal)) return new Refusal('InternalError', 'an event could not be encoded');
  const { reason, message } = thrown;
  if (reason !== '') return thrown;
  return new Refusal('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** Largest number of events in a slice: a pool thread encodes them in a few milliseconds. */
const SLICE_EVENTS = 256;

/**
 * The first item of a watch: an event, or a present object, which is ADDED. An object is held as its entry, because
 * thousands of them may wait for a slow reader.
 */
export type InitialEvent = ObjectEvent | Entry;

const toEvent = (initial: InitialEvent): ObjectEvent =>
  initial instanceof Entry ? { type: 'ADDED', object: initial.value, entry: initial } : initial;

/** Initial events in slices. Between two slices, a watch waits until the reader has taken enough. */
function* slicesOf(events: readonly InitialEvent[]): Generator<readonly ObjectEvent[]> {
  let slice: ObjectEvent[] = [];
  let bytes = 0;
  for (const initial of events) {
    const event = toEvent(initial);
    slice.push(event);
    bytes += event.object.length;
    if (bytes < LIST_SLICE_BYTES && slice.length < SLICE_EVENTS) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

const deletions = new WeakMap<Change, Buffer>();

function deletedBytes(change: Change, before: Entry): Buffer {
  let bytes = deletions.get(change);
  if (!bytes) {
    bytes = withRevision(before.value, change.revision);
    deletions.set(change, bytes);
  }
  return bytes;
}

/**
 * One watch. It is in one of three states: catching up (initial objects or past changes are being written, live ones
 * queue), live, or ended. Writes are never waited for: bytes that the connection has not taken count, and a reader too
 * far behind is disconnected.
 */
export class Watcher {
  /** Set while initial events are written. */
  #catchingUp = true;
  #queue: Change[] = [];
  /** Bytes of the objects ever queued. */
  #held = 0;
  #tail: Promise<void> | undefined;
  #first = true;
  #ended = false;
  #revision: number;
  #last: Change | undefined;
  #timers: NodeJS.Timeout[] = [];
  readonly #keys = new Map<EventType, string>();
  /** Resolves the wait for the reader, if there is one. */
  #wake: () => void = () => undefined;

  constructor(
    readonly selection: Selection,
    readonly collection: Collection,
    readonly stream: ResponseStream,
    readonly form: EventForm,
    /** Only changes after this revision are sent as live changes: earlier ones are among the initial events. */
    readonly since: number,
    readonly bookmarks: boolean,
    /** Removes it from the hub. */
    readonly onEnd: (watcher: Watcher) => void,
  ) {
    this.#revision = since;
    stream.onDrain(() => this.#wake());
  }

  /**
   * Ends the watch after `timeoutMs`. Until then sends bookmarks, if the client has asked for them: every BOOKMARK_MS,
   * and shortly before the end. They have the revision that `current` returns.
   */
  start(timeoutMs: number, current: () => number): void {
    this.#timers.push(setTimeout(() => this.#end(), timeoutMs).unref());
    if (!this.bookmarks) return;
    const mark = (): void => this.bookmark(current());
    this.#timers.push(setInterval(mark, BOOKMARK_MS).unref());
    if (timeoutMs > LAST_BOOKMARK_MS) this.#timers.push(setTimeout(mark, timeoutMs - LAST_BOOKMARK_MS).unref());
  }

  /** Sends the initial events in slices, then the live changes that were queued meanwhile, then is live. */
  async catchUp(initial: readonly InitialEvent[], endMark: number | undefined): Promise<void> {
    for (const slice of slicesOf(initial)) {
      if (this.#ended) return;
      await this.#showSlice(slice);
      await this.#drained();
    }
    if (endMark !== undefined && !this.#ended) await this.#send(this.form.bookmark(endMark, true, this.#header));
    while (this.#queue.length > 0) {
      const changes = this.#queue;
      this.#queue = [];
      for (const change of changes) {
        if (this.#ended) return;
        await this.#show(change);
        change.encodings = undefined;
      }
    }
    this.#catchingUp = false;
  }

  async #showSlice(slice: readonly ObjectEvent[]): Promise<void> {
    const { encodeAll } = this.form;
    if (encodeAll) {
      try {
        for (const event of await encodeAll(slice, this.#header)) await this.#send(event);
        return;
      } catch {
        // One of the events cannot be encoded. One by one, those before it are sent, and it ends the watch.
      }
    }
    for (const { type, object, entry } of slice) {
      if (this.#ended) return;
      await this.#send(this.form.encode(type, object, this.#header, entry));
    }
  }

  /** Takes a live change. Ignores one that it has taken already, or that is not after `since`. */
  take(change: Change): void {
    if (change === this.#last || change.revision < this.#revision || change.revision <= this.since) return;
    this.#last = change;
    this.#revision = change.revision;
    if (!this.#catchingUp) void this.#show(change);
    else if (eventFor(this.selection, change)) this.#hold(change);
  }

  /** Queues a live change until the initial events are sent. Disconnects the reader if the queue becomes too large. */
  #hold(change: Change): void {
    this.#queue.push(change);
    this.#held += (change.after ?? change.before)!.length;
    if (this.#held <= WATCH_BACKLOG_BYTES) return;
    this.stream.abort();
    this.ended();
  }

  /** Sends a bookmark, unless `since` is later: a watch can ask for a revision that the server has not reached yet. */
  bookmark(revision: number): void {
    if (!this.#catchingUp && !this.#ended && revision >= this.since)
      void this.#send(this.form.bookmark(revision, false, this.#header), true);
  }

  /** Ends a drained watch, with a last bookmark if those were asked for. */
  finish(revision: number): void {
    if (this.bookmarks) this.bookmark(revision);
    this.#end();
  }

  /** Ends after the events that are being written. */
  #end(): void {
    const end = (): void => {
      if (!this.#ended) this.stream.end();
      this.ended();
    };
    if (this.#tail) void this.#tail.then(end);
    else end();
  }

  /** Ends with an ERROR event. */
  fail(refusal: Refusal): void {
    if (this.#ended) return;
    this.stream.write(this.form.error(refusal));
    this.stream.end();
    this.ended();
  }

  /** The connection is gone or was ended. */
  ended(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#queue = [];
    this.#wake();
    this.onEnd(this);
  }

  #show(change: Change): Promise<void> | undefined {
    const event = eventFor(this.selection, change);
    if (!event) return undefined;
    return this.#send(this.#encoded(change, event));
  }

  /** Whether the next event is the first one and its form adds a header to it, such as the columns of a Table. */
  get #header(): boolean {
    return this.#first && this.form.firstDiffers;
  }

  /** The key of the shared encoding of an event that is not the first. Cached, since it is needed for each event. */
  #keyOf(type: EventType): string {
    let key = this.#keys.get(type);
    if (key === undefined) this.#keys.set(type, (key = `${type} ${this.form.key}`));
    return key;
  }

  #encoded(change: Change, event: ObjectEvent): Uint8Array | Promise<Uint8Array> {
    const header = this.#header;
    const key = header ? `${event.type} ${this.form.key} first` : this.#keyOf(event.type);
    change.encodings ??= new Map();
    let bytes = change.encodings.get(key);
    if (!bytes) {
      bytes = this.form.encode(event.type, event.object, header, event.entry);
      change.encodings.set(key, bytes);
    }
    return bytes;
  }

  /**
   * Writes in order: at once while nothing waits for an encoding, else after the events that wait. `mayWait` is that of
   * `ResponseStream.write`.
   */
  #send(bytes: Uint8Array | Promise<Uint8Array>, mayWait = false): Promise<void> | undefined {
    this.#first = false;
    // It may fail while it waits behind others, before anything else looks at it.
    if (bytes instanceof Promise) bytes.catch(() => undefined);
    if (!this.#tail && !(bytes instanceof Promise)) {
      this.#write(bytes, mayWait);
      return undefined;
    }
    const tail = (this.#tail ?? Promise.resolve())
      .then(() => bytes)
      .then(
        ready => this.#write(ready, mayWait),
        (thrown: unknown) => this.fail(unencodable(thrown)),
      )
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
    return tail;
  }

  #write(bytes: Uint8Array, mayWait: boolean): void {
    if (this.#ended) return;
    if (this.stream.write(bytes, mayWait) > WATCH_BACKLOG_BYTES && !this.#catchingUp) {
      this.stream.abort();
      this.ended();
    }
  }

  /**
   * Resolves in a later turn of the event loop, when the reader has room for another slice or the watch has ended. A
   * reader that takes nothing for STALLED_READER_MS is disconnected.
   */
  #drained(): Promise<void> {
    return new Promise(resolve => {
      if (this.#ended || this.stream.write(new Uint8Array(0)) < LIST_SLICE_BYTES) {
        setImmediate(resolve);
        return;
      }
      const timer = setTimeout(() => {
        this.stream.abort();
        this.ended();
      }, STALLED_READER_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** All watches, by collection. */
export class WatchHub {
  readonly #byCollection = new Map<Collection, Set<Watcher>>();
  #finished = false;

  add(watcher: Watcher): void {
    let watchers = this.#byCollection.get(watcher.collection);
    if (!watchers) {
      watchers = new Set();
      this.#byCollection.set(watcher.collection, watchers);
    }
    watchers.add(watcher);
  }

  /** Whether all watches were ended: new ones are refused. */
  get finished(): boolean {
    return this.#finished;
  }

  /** How many watches are open. */
  get size(): number {
    return Array.from(this.#byCollection.values(), watchers => watchers.size).reduce((sum, size) => sum + size, 0);
  }

  remove(watcher: Watcher): void {
    this.#byCollection.get(watcher.collection)?.delete(watcher);
  }

  publish(change: Change): void {
    const watchers = this.#byCollection.get(change.collection);
    if (watchers) for (const watcher of watchers) watcher.take(change);
    // The history keeps the change for minutes; its encodings are needed only while it is sent.
    change.encodings = undefined;
  }

  /** Ends the watches of a collection cleanly, because the schema of its kind has changed. */
  end(collection: Collection | undefined, revision: number): void {
    const watchers = collection && this.#byCollection.get(collection);
    if (watchers) for (const watcher of [...watchers]) watcher.finish(revision);
  }

  /** Ends every watch cleanly, for a drain. */
  finish(revision: number): void {
    this.#finished = true;
    for (const watchers of this.#byCollection.values()) for (const watcher of [...watchers]) watcher.finish(revision);
  }
}
