import { PassThrough, type Readable } from 'node:stream';
import type { Exchange } from '../../../core/api/listener.js';

/**
 * Returns the body of an exchange as a stream. Call it before the handler of the exchange returns. The client sends no
 * faster than the stream is read, and only a first part until the request is passed on.
 */
export function holdBody(exchange: Exchange): Readable {
  const body = new PassThrough();
  // The stream may be destroyed while nothing reads it.
  body.on('error', () => undefined);
  exchange.body({
    write: bytes => (body.write(bytes) ? undefined : new Promise(resolve => body.once('drain', resolve))),
    close: () => void body.end(),
    abort: error => void body.destroy(error as Error),
  });
  return body;
}
