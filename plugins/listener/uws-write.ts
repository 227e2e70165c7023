import type { ResponseStream } from '../../core/api/listener.js';
import { LOW_WATER } from './common.js';
import type { Response } from './uws-types.js';

/**
 * Bytes handed to uWS at once. Small pieces are gathered into one buffer of this size (a native call costs more than copying 2 KB), which
 * may be shared by all connections because uWS copies what the socket does not take.
 */
const SLAB_BYTES = 256 * 1024;
/** Pieces from this size on are sent from where they are. */
const DIRECT_BYTES = 64 * 1024;
const slab = Buffer.allocUnsafeSlow(SLAB_BYTES);

/** A queue of bytes to send, read in runs of about `SLAB_BYTES`. */
class Outgoing {
  private pieces: Uint8Array[] = [];
  private index = 0;
  private offset = 0;
  size = 0;

  push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.size += bytes.length;
  }

  /** The next run; valid until the next call. Nothing is removed. */
  peek(): Uint8Array {
    const first = this.pieces[this.index]!.subarray(this.offset);
    if (first.length >= DIRECT_BYTES || this.index === this.pieces.length - 1) return first.subarray(0, SLAB_BYTES);
    slab.set(first);
    let filled = first.length;
    for (let i = this.index + 1; i < this.pieces.length && filled < SLAB_BYTES; i++) {
      const piece = this.pieces[i]!;
      if (piece.length >= DIRECT_BYTES) break;
      const part = piece.length > SLAB_BYTES - filled ? piece.subarray(0, SLAB_BYTES - filled) : piece;
      slab.set(part, filled);
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
      this.index++;
      this.offset = 0;
    }
    if (this.index === this.pieces.length) {
      this.pieces = [];
      this.index = 0;
    }
  }
}

/**
 * Sends a body of known length piece by piece as the socket takes it. Call it corked, after status and headers; `done` is called when the
 * socket has taken everything.
 */
export function sendPieces(res: Response, pieces: readonly Uint8Array[], total: number, done: () => void): void {
  const outgoing = new Outgoing();
  for (const piece of pieces) if (piece.length > 0) outgoing.push(piece);
  const pump = (): boolean => {
    while (outgoing.size > 0) {
      const before = res.getWriteOffset();
      const run = outgoing.peek();
      const [ok, finished] = res.tryEnd(run, total);
      if (finished) {
        done();
        return true;
      }
      outgoing.skip(ok ? run.length : res.getWriteOffset() - before);
      if (!ok) return false;
    }
    return true;
  };
  if (!pump()) {
    res.onWritable(() => {
      let ok = true;
      res.cork(() => {
        ok = pump();
      });
      return ok;
    });
  }
}

/** Streams with bytes to write at the end of this turn of the event loop. */
let dirty: UwsStream[] = [];

function flushAll(): void {
  const streams = dirty;
  dirty = [];
  for (const stream of streams) stream.flush();
}

/**
 * A chunked answer. Bytes wait here, not in uWS, once the socket stops taking them, because uWS takes any amount and does not tell how much it holds.
 */
export class UwsStream implements ResponseStream {
  private readonly outgoing = new Outgoing();
  private readonly drains: (() => void)[] = [];
  /** Bytes uWS holds for a socket that did not take them. */
  private held = 0;
  private queued = false;
  private ending = false;
  private closed = false;
  private high = false;

  constructor(
    private readonly res: Response,
    private readonly done: () => void,
    lost: boolean,
  ) {
    if (lost) {
      this.closed = true;
      return;
    }
    res.onWritable(() => {
      this.held = 0;
      this.flush();
      return true;
    });
  }

  write(bytes: Uint8Array): number {
    if (this.closed || this.ending) return 0;
    if (bytes.length > 0) this.outgoing.push(bytes);
    this.schedule();
    const unsent = this.outgoing.size + this.held;
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

  /** The connection is gone; nothing may touch the response any more. */
  lose(): void {
    this.closed = true;
  }

  /** Writes what the socket takes. */
  flush(): void {
    this.queued = false;
    if (this.closed || this.held > 0) return;
    this.res.cork(() => this.pump());
    if (this.high && this.outgoing.size + this.held < LOW_WATER) {
      this.high = false;
      for (const listener of this.drains) listener();
    }
  }

  private pump(): void {
    while (this.outgoing.size > 0) {
      const run = this.outgoing.peek();
      const length = run.length;
      const taken = this.res.write(run);
      this.outgoing.skip(length);
      if (!taken) {
        this.held = length;
        return;
      }
    }
    if (!this.ending) return;
    this.closed = true;
    this.res.end();
    this.done();
  }

  private schedule(): void {
    if (this.queued || this.held > 0) return;
    this.queued = true;
    if (dirty.push(this) === 1) setImmediate(flushAll);
  }
}
