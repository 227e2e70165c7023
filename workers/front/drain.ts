import type { Exchange, ResponseStream } from '../../core/api/listener.js';

/**
 * Makes a wait for the reader of a stream: each call resolves when the connection has drained, or is gone. One listener
 * of a kind, however often it is waited.
 */
export function drainOf(exchange: Exchange, stream: ResponseStream): () => Promise<void> {
  let wake: () => void = () => undefined;
  stream.onDrain(() => wake());
  exchange.onAbort(() => wake());
  return () =>
    new Promise(resolve => {
      wake = resolve;
      if (exchange.aborted) resolve();
    });
}
