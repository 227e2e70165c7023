import { setImmediate } from '../../../core/runtime/timers.js';

/** Returns a function that collects its arguments during a turn of the event loop, for one call of `post`. */
export function batchedByTurn<T>(post: (items: readonly T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  return item => {
    if (waiting.push(item) > 1) return;
    setImmediate(() => {
      const items = waiting;
      waiting = [];
      post(items);
    });
  };
}
