import type { ResponseStream, StreamOptions } from '../../core/api/listener.js';
import { copyBytes } from '../../core/runtime/copyBytes.js';
import { setImmediate } from '../../core/runtime/timers.js';
import { LOW_WATER, StallTimer } from './common.js';
import { type Flushable, Rounds } from './rounds.js';
import type { Response } from './uwsTypes.js';

/**
 * The maximum number of bytes of one write to uWS. Small pieces are copied into one buffer of this size, because a
 * native call costs more than copying 2 KB. All connections share it, because uWS copies bytes that the socket does not
 * accept.
 */
const SLAB_BYTES = 256 * 1024;
/** Pieces of at least this size are sent without a copy. */
const DIRECT_BYTES = 64 * 1024;
const slab = Buffer.allocUnsafeSlow(SLAB_BYTES);

/**
 * The maximum number of bytes of a body that fit, together with a head, the cork buffer of uWS, of 16 KB. Longer bodies
 * must be written with `tryEnd` and not corked: if the socket does not accept the corked bytes, uWS keeps these,
 * reports that the write has to wait, and discards the write.
 */
export const CORKED_BYTES = 15 * 1024;

/** Returns pieces of at most `SLAB_BYTES` as one. The result is valid until the next write to any connection. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  let filled = 0;
  for (const piece of pieces) {
    copyBytes(slab, filled, piece);
    filled += piece.length;
  }
  return slab.subarray(0, filled);
}

/** Takes the place of a piece that was sent. */
const SENT = new Uint8Array();
/** Pieces that were sent are removed from the queue when they are this many, and most of it. */
const REMOVED_PIECES = 32;

/** A queue of bytes to send, read in runs. A slow reader may never leave it empty. */
class Outgoing {
  private pieces: Uint8Array[] = [];
  private index = 0;
  private offset = 0;
  size = 0;

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.pieces.push(bytes);
    this.size += bytes.length;
  }

  /** The next bytes, at most `limit`; valid until the next call. They stay in the queue. */
  peek(limit: number): Uint8Array {
    const piece = this.pieces[this.index]!;
    // Creating a view takes a tenth of the time of an event of a watch.
    const first = this.offset === 0 ? piece : piece.subarray(this.offset);
    if (first.length >= Math.min(limit, DIRECT_BYTES) || this.index === this.pieces.length - 1)
      return first.length <= limit ? first : first.subarray(0, limit);
    copyBytes(slab, 0, first);
    let filled = first.length;
    for (let i = this.index + 1; i < this.pieces.length && filled < limit; i++) {
      const piece = this.pieces[i]!;
      if (piece.length >= DIRECT_BYTES) break;
      const part = piece.length > limit - filled ? piece.subarray(0, limit - filled) : piece;
      copyBytes(slab, filled, part);
      filled += part.length;
    }
    return slab.subarray(0, filled);
  }

  skip(bytes: number): void {
    this.size -= bytes;
    let left = bytes;
    while (left > 0) {
      const rest = this.pieces[this.index]!.length - this.offset;
      if (left < rest) {
        this.offset += left;
        return;
      }
      left -= rest;
      this.pieces[this.index++] = SENT;
      this.offset = 0;
    }
    if (this.index === this.pieces.length) {
      this.pieces = [];
      this.index = 0;
    } else if (this.index >= REMOVED_PIECES && this.index > this.pieces.length / 2) {
      this.pieces = this.pieces.slice(this.index);
      this.index = 0;
    }
  }
}

let dirty: Flushable[] = [];

function flushAll(): void {
  const writers = dirty;
  dirty = [];
  for (const writer of writers) writer.flush();
}

/** The last bytes that were written without the first one. */
let whole: Uint8Array | undefined;
let rest: Uint8Array = new Uint8Array();

/** Bytes without the first one, which was sent ahead. The same event is often written to many streams in turn. */
function withoutFirst(bytes: Uint8Array): Uint8Array {
  if (bytes !== whole) {
    whole = bytes;
    rest = new Uint8Array(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1);
  }
  return rest;
}

/** Calls `flush` at the end of this turn of the event loop, in the order of the calls. */
export function flushAtTurnEnd(writer: Flushable): void {
  if (dirty.push(writer) === 1) setImmediate(flushAll);
}

const rounds = new Rounds();

/** Calls `flush` in the next round, together with that of other streams. Call it again only after that. */
export function flushInRound(writer: Flushable): void {
  rounds.add(writer);
}

/**
 * A streamed answer: with a known `length`, or chunked. While the socket is full, bytes wait here and not in uWS,
 * because uWS accepts any amount and does not report how much it holds.
 *
 * uWS sends the line end that completes a chunk, and the one that completes the head, with the next chunk. If the
 * stream has a byte to send ahead, a chunk of that byte is therefore sent after the writes of a turn that may not wait.
 */
export class UwsStream implements ResponseStream {
  private readonly outgoing = new Outgoing();
  private readonly drains: (() => void)[] = [];
  /** Whether the socket did not accept all bytes of the last write. */
  private blocked = false;
  /** Number of bytes that uWS holds because the socket did not accept them. */
  private held = 0;
  private queued = false;
  /** Whether it was flushed before. The head is written at the end of a turn too, so the first flush follows it. */
  private begun = false;
  private ending = false;
  private closed = false;
  private high = false;
  private readonly stall = new StallTimer(() => this.abort());
  private readonly ahead: Uint8Array | undefined;
  /** Whether `ahead` was sent after the last write. */
  private sentAhead = false;
  /** Whether writes since `ahead` was sent, or the head, must be complete on the wire. */
  private urgent = true;

  constructor(
    private readonly res: Response,
    private readonly done: () => void,
    lost: boolean,
    private readonly options: StreamOptions,
  ) {
    if (lost) {
      this.closed = true;
      return;
    }
    res.onWritable(() => {
      this.setBlocked(false);
      this.held = 0;
      this.flush();
      return true;
    });
    this.ahead = options.ahead && Uint8Array.of(options.ahead.value);
    if (this.ahead) this.schedule();
  }

  write(bytes: Uint8Array, mayWait = false): number {
    if (this.closed || this.ending) return 0;
    if (bytes.length > 0) {
      this.outgoing.push(this.sentAhead && this.options.ahead?.partOfWrite ? withoutFirst(bytes) : bytes);
      this.sentAhead = false;
      if (!mayWait) this.urgent = true;
    }
    this.schedule();
    const { unsent } = this;
    if (unsent >= LOW_WATER) this.high = true;
    return unsent;
  }

  onDrain(listener: () => void): void {
    this.drains.push(listener);
  }

  end(): void {
    if (this.closed || this.ending) return;
    this.ending = true;
    this.schedule();
  }

  abort(): void {
    if (!this.closed) this.res.close();
  }

  /** Call when the connection is closed. The response is no longer used. */
  lose(): void {
    this.closed = true;
    this.stall.stop();
  }

  /** Writes as many bytes as the socket accepts. */
  flush(): void {
    this.queued = false;
    this.begun = true;
    if (this.closed || this.blocked) return;
    const { length } = this.options;
    do this.res.cork(() => (length === undefined ? this.chunk() : this.part(length)));
    while (!this.closed && !this.blocked && this.outgoing.size > 0);
    if (this.high && this.unsent < LOW_WATER) {
      this.high = false;
      for (const listener of this.drains) listener();
    }
  }

  private get unsent(): number {
    return this.outgoing.size + this.held;
  }

  /** Writes a chunk, and after the last one of this turn the byte to send ahead, or the end. */
  private chunk(): void {
    if (this.outgoing.size > 0) {
      const run = this.outgoing.peek(CORKED_BYTES);
      this.setBlocked(!this.res.write(run));
      if (this.blocked) this.held = run.length;
      this.outgoing.skip(run.length);
    }
    if (this.outgoing.size > 0 || this.blocked) return;
    if (this.ending) {
      this.res.end();
      this.finish();
    } else if (this.ahead && this.urgent) {
      this.sentAhead = true;
      this.urgent = false;
      this.setBlocked(!this.res.write(this.ahead));
    }
  }

  /** Writes a part of a body of known length. Bytes that the socket does not accept stay in the queue. */
  private part(length: number): void {
    if (this.outgoing.size === 0) return;
    const before = this.res.getWriteOffset();
    const run = this.outgoing.peek(SLAB_BYTES);
    const [taken, finished] = this.res.tryEnd(run, length);
    if (finished) {
      this.finish();
      return;
    }
    this.outgoing.skip(taken ? run.length : this.res.getWriteOffset() - before);
    this.setBlocked(!taken);
  }

  private setBlocked(blocked: boolean): void {
    this.blocked = blocked;
    if (blocked) this.stall.start();
    else this.stall.stop();
  }

  private finish(): void {
    this.closed = true;
    this.stall.stop();
    this.done();
  }

  private schedule(): void {
    if (this.queued || this.blocked) return;
    this.queued = true;
    if (this.options.isNews && this.begun) flushInRound(this);
    else flushAtTurnEnd(this);
  }
}
