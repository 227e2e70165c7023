import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, gzip } from 'node:zlib';
import type { Exchange, ResponseStream } from '../api/listener.js';
import { GZIP_BYTES, LIST_SLICE_BYTES } from '../limits.js';
import type { Headers } from './reply.js';

/** The fastest level: the connection, not the size, is what a reader waits for. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const COMPRESSED: Headers = [
  ['content-encoding', 'gzip'],
  ['vary', 'Accept-Encoding'],
];

/** Whether an answer of that size is to be compressed (spec, "Response compression"): large answers to reads whose client names gzip. */
export function compresses(exchange: Exchange, bytes: number): boolean {
  if (bytes < GZIP_BYTES || exchange.method !== 'GET') return false;
  const accepted = exchange.header('accept-encoding');
  return accepted !== undefined && /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(accepted);
}

/** Sends a whole body, compressed by another thread. */
export async function respondCompressed(exchange: Exchange, status: number, headers: Headers, body: Uint8Array): Promise<void> {
  const bytes = await new Promise<Buffer>((resolve, reject) =>
    gzip(body, OPTIONS, (error, result) => (error ? reject(error) : resolve(result))),
  );
  if (!exchange.aborted) exchange.respond(status, [...headers, ...COMPRESSED], bytes);
}

/** Sends a body slice by slice, compressed by another thread, no faster than the client takes it. */
export async function streamCompressed(exchange: Exchange, headers: Headers, parts: Iterable<Uint8Array>): Promise<void> {
  const stream = exchange.stream(200, [...headers, ...COMPRESSED]);
  const gone = new AbortController();
  exchange.onAbort(() => gone.abort());
  try {
    await pipeline(
      Readable.from(slices(parts)),
      createGzip(OPTIONS),
      async (source: AsyncIterable<Uint8Array>) => {
        for await (const part of source) await taken(stream, part, gone.signal);
      },
      { signal: gone.signal },
    );
    stream.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

/** Joins parts into slices: a stream costs more per chunk than a copy. */
function* slices(parts: Iterable<Uint8Array>): Generator<Buffer> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    gathered.push(part);
    size += part.length;
    if (size < LIST_SLICE_BYTES) continue;
    yield Buffer.concat(gathered, size);
    gathered = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(gathered, size);
}

/** Resolves when the connection has room for more, or is gone. */
function taken(stream: ResponseStream, part: Uint8Array, gone: AbortSignal): Promise<void> | undefined {
  if (stream.write(part) < LIST_SLICE_BYTES) return undefined;
  return new Promise(resolve => {
    gone.addEventListener('abort', () => resolve(), { once: true });
    stream.onDrain(resolve);
  });
}
