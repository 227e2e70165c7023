import type { Exchange, ResponseStream } from '../../../core/api/listener.js';
import { STALLED_READER_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';

/**
 * Returns a function that waits for the reader of a stream: its promise resolves when the connection has drained, or is
 * gone. A reader that takes nothing for STALLED_READER_MS is disconnected. Listeners are added only by the first call.
 */
export function drainOf(exchange: Exchange, stream: ResponseStream): () => Promise<void> {
  let wake: () => void = () => undefined;
  stream.onDrain(() => wake());
  exchange.onAbort(() => wake());
  return () =>
    new Promise(resolve => {
      const timer = setTimeout(() => stream.abort(), STALLED_READER_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (exchange.aborted) wake();
    });
}
