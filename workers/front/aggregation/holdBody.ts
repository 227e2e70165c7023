import { PassThrough, type Readable } from 'node:stream';
import type { Exchange } from '../../../core/api/listener.js';

/**
 * Reads the body of an exchange, to be called before its handler returns. The client sends no faster than the stream is
 * read: until the request is passed on, only the first part.
 */
export function holdBody(exchange: Exchange): Readable {
  const body = new PassThrough();
  // It may be destroyed while nothing reads it.
  body.on('error', () => undefined);
  exchange.body({
    write: bytes => (body.write(bytes) ? undefined : new Promise(resolve => body.once('drain', resolve))),
    close: () => void body.end(),
    abort: error => void body.destroy(error as Error),
  });
  return body;
}
