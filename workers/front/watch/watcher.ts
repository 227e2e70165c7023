import type { ResponseStream } from '../../../core/api/listener.js';
import {
  BOOKMARK_MS,
  LAST_BOOKMARK_MS,
  LIST_SLICE_BYTES,
  STALLED_READER_MS,
  WATCH_BACKLOG_BYTES,
} from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { clearTimeout, setImmediate, setInterval, setTimeout } from '../../../core/runtime/timers.js';
import type { Selection } from '../reads/selection.js';
import type { Change, Collection } from '../state/collection.js';
import {
  type EventForm,
  type EventType,
  type InitialEvent,
  type ObjectEvent,
  eventFor,
  slicesOf,
} from './watchEvents.js';

/**
 * The Status of an event that could not be encoded: the pool's refusal. A failed conversion has no `reason`, which
 * clients expect in ERROR events, so it becomes an InternalError.
 */
function unencodable(thrown: unknown): Refusal {
  if (!(thrown instanceof Refusal)) return new Refusal('InternalError', 'an event could not be encoded');
  const { reason, message } = thrown;
  if (reason !== '') return thrown;
  return new Refusal('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/**
 * One watch. It is in one of three states: catching up (initial objects or past changes are being written, live ones
 * queue), live, or ended. It does not wait for writes: it counts the bytes that the connection has not taken, and
 * disconnects a reader that is too far behind.
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
    /** Removes the watch from the hub. */
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

  /** Sends initial events in slices. Resolves when the reader has room for more, or the watch has ended. */
  async sendInitial(events: readonly InitialEvent[]): Promise<void> {
    for (const slice of slicesOf(events)) {
      if (this.#ended) return;
      await this.#showSlice(slice);
      await this.#drained();
    }
  }

  /** Sends the last initial events, then the live changes that were queued meanwhile, then becomes live. */
  async catchUp(initial: readonly InitialEvent[], endMark: number | undefined): Promise<void> {
    await this.sendInitial(initial);
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
        // One of the events cannot be encoded. They are encoded one by one: those before it are sent, and it ends the
        // watch.
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

  /** Whether nothing more is sent. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Ends with an ERROR event. */
  fail(refusal: Refusal): void {
    if (this.#ended) return;
    this.stream.write(this.form.error(refusal));
    this.stream.end();
    this.ended();
  }

  /** To be called when the connection is gone or was ended. */
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
    // The promise may reject while it waits behind others, before anything awaits it.
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
