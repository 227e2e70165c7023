import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, gzip } from 'node:zlib';
import type { Exchange } from '../../../core/api/listener.js';
import { GZIP_BYTES, LIST_SLICE_BYTES } from '../../../core/limits.js';
import { acceptsGzip } from '../../../core/model/text/httpHeaders.js';
import type { JobResult } from '../../../core/threads/messages/messages.js';
import { drainOf } from './drain.js';
import { type Headers, headersWithId, respond } from './reply.js';

/** The fastest level: the time to compress counts more than a smaller size. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const COMPRESSED: Headers = [
  ['content-encoding', 'gzip'],
  ['vary', 'Accept-Encoding'],
];

/**
 * Whether to compress an answer of that size (spec, "Response compression"): large answers to reads whose client names
 * gzip.
 */
export const compresses = (exchange: Exchange, bytes: number): boolean =>
  bytes >= GZIP_BYTES && exchange.method === 'GET' && acceptsGzip(exchange.header('accept-encoding'));

/**
 * Sends a whole body with status 200, compressed by another thread where the client accepts that and the body is large.
 */
export async function respondWhole(exchange: Exchange, headers: Headers, body: Uint8Array): Promise<void> {
  if (!compresses(exchange, body.length)) return await send(exchange, headers, body);
  const bytes = await new Promise<Buffer>((resolve, reject) =>
    gzip(body, OPTIONS, (error, result) => (error ? reject(error) : resolve(result))),
  );
  await send(exchange, [...headers, ...COMPRESSED], bytes);
}

/**
 * Sends a body. Resolves when the client has taken most of it: listeners copy the bytes that the connection does not
 * accept.
 */
async function send(exchange: Exchange, headers: Headers, body: Uint8Array): Promise<void> {
  if (body.length <= LIST_SLICE_BYTES) return exchange.respond(200, headers, body);
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < body.length; at += LIST_SLICE_BYTES) yield body.subarray(at, at + LIST_SLICE_BYTES);
  }
  await streamParts(exchange, headers, parts(), false, body.length);
}

/** Sends objects that the pool has encoded, compressed where the client accepts that, or its refusal. */
export async function respondRendered(exchange: Exchange, result: JobResult): Promise<void> {
  if (result.is === 'respond' && result.status === 200)
    await respondWhole(exchange, headersWithId(result), result.body);
  else respond(exchange, result);
}

/**
 * Sends a body slice by slice, compressed by another thread, no faster than the client takes it. Parts that come
 * asynchronously are slices already.
 */
export async function streamCompressed(
  exchange: Exchange,
  headers: Headers,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const stream = exchange.stream(200, [...headers, ...COMPRESSED]);
  const drained = drainOf(exchange, stream);
  const gone = new AbortController();
  exchange.onAbort(() => gone.abort());
  try {
    await pipeline(
      Readable.from(Symbol.iterator in parts ? slices(parts) : parts),
      createGzip(OPTIONS),
      async (source: AsyncIterable<Uint8Array>) => {
        for await (const part of source) if (stream.write(part) >= LIST_SLICE_BYTES) await drained();
      },
      { signal: gone.signal },
    );
    stream.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    // The status has been sent: only a broken stream can report the error.
    stream.abort();
    throw error;
  }
}

/**
 * Sends a body of parts that are made while it is sent, no faster than the client takes them: compressed if it
 * `isCompressed`, else with its length, if that is known. The parts may end early when the client has gone away. If
 * they fail, the connection is closed.
 */
export async function streamParts(
  exchange: Exchange,
  headers: Headers,
  parts: AsyncGenerator<Uint8Array>,
  isCompressed: boolean,
  length?: number,
): Promise<void> {
  if (isCompressed) return await streamCompressed(exchange, headers, parts);
  const stream = exchange.stream(200, headers, length === undefined ? {} : { length });
  const drained = drainOf(exchange, stream);
  try {
    for await (const part of parts) {
      if (exchange.aborted) return;
      if (stream.write(part) >= LIST_SLICE_BYTES) await drained();
      if (exchange.aborted) return;
    }
    stream.end();
  } catch (error) {
    if (exchange.aborted) return;
    // The status has been sent: only a broken stream can report the error.
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
