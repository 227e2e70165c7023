import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StreamOptions } from '../../core/api/listener.js';
import type { Response } from '../../plugins/listener/uwsTypes.js';
import { CORKED_BYTES, flushAtTurnEnd, flushInRound, UwsStream } from '../../plugins/listener/uwsWrite.js';
import { eventually } from '../support/eventually.js';
import { countKept } from '../support/garbage.js';

const CORK_BUFFER = 16 * 1024;

/**
 * A connection whose socket accepts a given number of bytes, and that corks like uWS 20.51: bytes that overflow the
 * cork buffer are dropped if the socket does not accept the corked bytes first, unless they can be sent again
 * (`tryEnd`).
 */
class Connection {
  readonly sent: Buffer[] = [];
  finished = false;
  private corked: Buffer[] | undefined;
  private waiting: Buffer = Buffer.alloc(0);
  private offset = 0;
  private writable: (() => void) | undefined;

  constructor(
    /** The numbers of bytes that the socket accepts of its first writes; later ones are accepted completely. */
    private readonly takes: number[],
  ) {}

  get response(): Response {
    const response = {
      cork: (work: () => void) => {
        this.corked = [];
        work();
        const rest = this.corked;
        this.corked = undefined;
        if (rest) this.direct(Buffer.concat(rest), false);
      },
      onWritable: (listener: () => void) => {
        this.writable = listener;
      },
      write: (bytes: Uint8Array) => {
        const size = Buffer.from(`\r\n${bytes.length.toString(16)}\r\n`);
        this.put(size, false);
        return !this.put(Buffer.from(bytes), false).failed;
      },
      tryEnd: (bytes: Uint8Array, total: number) => {
        const { written, failed } = this.put(Buffer.from(bytes), true);
        this.offset += written;
        this.finished = this.offset === total;
        return [!failed, this.finished];
      },
      getWriteOffset: () => this.offset,
      end: () => {
        this.put(Buffer.from('\r\n0\r\n\r\n'), false);
        this.finished = true;
      },
    };
    return response as unknown as Response;
  }

  /** Makes the socket accept bytes again. */
  drain(): void {
    this.direct(Buffer.alloc(0), false);
    this.writable?.();
  }

  private put(bytes: Buffer, again: boolean): { written: number; failed: boolean } {
    if (!this.corked) return this.direct(bytes, again);
    const held = this.corked.reduce((sum, part) => sum + part.length, 0);
    if (held + bytes.length <= CORK_BUFFER) {
      this.corked.push(bytes);
      return { written: bytes.length, failed: false };
    }
    const before = Buffer.concat(this.corked);
    this.corked = undefined;
    if (before.length > 0 && this.direct(before, false).failed) return { written: 0, failed: true };
    return this.direct(bytes, again);
  }

  private direct(bytes: Buffer, again: boolean): { written: number; failed: boolean } {
    if (this.waiting.length > 0) {
      this.waiting = this.waiting.subarray(this.taken(this.waiting));
      if (this.waiting.length > 0 && again) return { written: 0, failed: true };
      if (this.waiting.length > 0) {
        this.waiting = Buffer.concat([this.waiting, bytes]);
        return { written: bytes.length, failed: true };
      }
    }
    const count = this.taken(bytes);
    if (count === bytes.length) return { written: count, failed: false };
    if (!again) this.waiting = bytes.subarray(count);
    return { written: again ? count : bytes.length, failed: true };
  }

  private taken(bytes: Buffer): number {
    if (bytes.length === 0) return 0;
    const count = Math.min(bytes.length, this.takes.shift() ?? bytes.length);
    this.sent.push(Buffer.from(bytes.subarray(0, count)));
    return count;
  }
}

/** The body of a chunked answer (RFC 9112, 7.1) without its header block. */
function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 2; ; ) {
    const line = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    expect(size).toBeGreaterThan(0);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size;
    expect(bytes.toString('latin1', at, at + 2)).toBe('\r\n');
    at += 2;
  }
}

const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(40_000), fc.constant(300_000)), { minLength: 1, maxLength: 8 });
const takes = fc.array(fc.oneof(fc.constant(0), fc.nat(12), fc.nat(70_000)), { maxLength: 30 });

const KINDS = ['chunked', 'of known length', 'chunked, with a blank ahead', 'chunked, with the first byte ahead'];
/** The first byte of every piece. */
const FIRST = 0x7b;

/** The options of a stream of this kind, for a body of this length. */
function optionsOf(kind: string, length: number): StreamOptions {
  if (kind === 'of known length') return { length };
  if (kind.endsWith('a blank ahead')) return { ahead: { value: 0x20, partOfWrite: false } };
  if (kind.endsWith('first byte ahead')) return { ahead: { value: FIRST, partOfWrite: true } };
  return {};
}

/** The body without a byte that was sent ahead of a write that never followed. */
function withoutAhead(body: Buffer, kind: string, length: number): Buffer {
  if (kind.endsWith('a blank ahead')) return Buffer.from(body.toString('latin1').replaceAll(' ', ''), 'latin1');
  return kind.endsWith('first byte ahead') && body[length] === FIRST ? body.subarray(0, length) : body;
}

it.each(KINDS)('every byte of a stream, %s, reaches a client whose socket may be full at any time', async kind => {
  await fc.assert(
    fc.asyncProperty(sizes, takes, async (lengths, socket) => {
      const pieces = lengths.map((length, i) => Buffer.alloc(length + 1, 97 + i).fill(FIRST, 0, 1));
      const body = Buffer.concat(pieces);
      const connection = new Connection([...socket]);
      let done = false;
      const finish = (): void => {
        done = true;
      };
      const stream = new UwsStream(connection.response, finish, false, optionsOf(kind, body.length));
      for (const piece of pieces) {
        stream.write(piece);
        if (piece.length % 2 === 0) stream.flush();
        if (piece.length % 3 === 0) connection.drain();
      }
      stream.end();
      stream.flush();
      for (let i = 0; i < 40; i++) connection.drain();
      const sent = Buffer.concat(connection.sent);
      const received = kind === 'of known length' ? sent : withoutAhead(unchunked(sent), kind, body.length);
      expect(received.equals(body)).toBe(true);
      expect([done, connection.finished]).toEqual([true, true]);
    }),
    // A write of one byte, which was sent ahead, and then one that is not copied.
    { numRuns: 300, examples: [[[13, 0, 300_000, 0], []]] },
  );
});

it('a stream that is never sent completely keeps no bytes that were sent', async () => {
  let makeWritable: () => void = () => undefined;
  // The socket accepts one chunk at a time.
  const response = {
    cork: (work: () => void) => work(),
    onWritable: (listener: () => void) => (makeWritable = listener),
    write: () => false,
  } as unknown as Response;
  const stream = new UwsStream(response, () => undefined, false, {});
  const written: WeakRef<object>[] = [];
  const write = (): void => {
    const bytes = new Uint8Array(CORKED_BYTES);
    written.push(new WeakRef(bytes));
    stream.write(bytes);
  };
  write();
  stream.flush();
  for (let i = 0; i < 100; i++) {
    write();
    write();
    makeWritable();
    if (i % 10 === 0) makeWritable();
  }
  const kept = await countKept(written);
  expect(kept).toBeLessThanOrEqual(100);
  expect(kept).toBeGreaterThan(80);
});

it('an event stream begins after its header block, even if a round is about to flush others', async () => {
  await new Promise(resolve => setImmediate(resolve));
  const order: string[] = [];
  const response = {
    cork: (work: () => void) => work(),
    onWritable: () => undefined,
    write: (bytes: Uint8Array) => order.push(Buffer.from(bytes).toString()) > 0,
  } as unknown as Response;
  flushInRound({ flush: () => order.push('another stream') });
  flushAtTurnEnd({ flush: () => order.push('head') });
  const stream = new UwsStream(response, () => undefined, false, { isNews: true });
  stream.write(Buffer.from('body'));
  await eventually(() => order.includes('body'));
  stream.write(Buffer.from('more'));
  await eventually(() => order.includes('more'));
  expect(order).toEqual(['another stream', 'head', 'body', 'more']);
});
