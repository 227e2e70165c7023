import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, gzip } from 'node:zlib';
import type { Exchange } from '../../core/api/listener.js';
import { GZIP_BYTES, LIST_SLICE_BYTES } from '../../core/limits.js';
import type { JobResult } from '../../core/threads/messages.js';
import { drainOf } from './drain.js';
import { type Headers, respond } from './reply.js';

/** The fastest level: the connection, not the size, is what a reader waits for. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const COMPRESSED: Headers = [
  ['content-encoding', 'gzip'],
  ['vary', 'Accept-Encoding'],
];

/**
 * Whether an answer of that size is to be compressed (spec, "Response compression"): large answers to reads whose
 * client names gzip.
 */
export function compresses(exchange: Exchange, bytes: number): boolean {
  if (bytes < GZIP_BYTES || exchange.method !== 'GET') return false;
  const accepted = exchange.header('accept-encoding');
  return (
    accepted !== undefined && /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(accepted)
  );
}

/**
 * Sends a whole body with status 200, compressed by another thread where the client accepts that and the body is large.
 */
export async function respondWhole(exchange: Exchange, headers: Headers, body: Uint8Array): Promise<void> {
  if (!compresses(exchange, body.length)) return exchange.respond(200, headers, body);
  const bytes = await new Promise<Buffer>((resolve, reject) =>
    gzip(body, OPTIONS, (error, result) => (error ? reject(error) : resolve(result))),
  );
  exchange.respond(200, [...headers, ...COMPRESSED], bytes);
}

/** Sends objects that the pool has encoded, compressed where the client accepts that, or its refusal. */
export async function respondRendered(exchange: Exchange, result: JobResult): Promise<void> {
  if (result.is === 'respond' && result.status === 200) await respondWhole(exchange, result.headers, result.body);
  else respond(exchange, result);
}

/** Sends a body slice by slice, compressed by another thread, no faster than the client takes it. */
export async function streamCompressed(
  exchange: Exchange,
  headers: Headers,
  parts: Iterable<Uint8Array>,
): Promise<void> {
  const stream = exchange.stream(200, [...headers, ...COMPRESSED]);
  const drained = drainOf(exchange, stream);
  const gone = new AbortController();
  exchange.onAbort(() => gone.abort());
  try {
    await pipeline(
      Readable.from(slices(parts)),
      createGzip(OPTIONS),
      async (source: AsyncIterable<Uint8Array>) => {
        for await (const part of source) if (stream.write(part) >= LIST_SLICE_BYTES) await drained();
      },
      { signal: gone.signal },
    );
    stream.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    // The status has left: only a broken stream can tell.
    stream.abort();
    throw error;
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
