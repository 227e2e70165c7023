import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Delay of the collection, in which the last messages of a start are sent. */
const DELAY_MS = 1000;

/**
 * Collects the garbage of this thread once, a second from now. For the end of a thread's start: V8 collects nothing in
 * a thread without work, so that the garbage of the start would stay in memory (some 100 MB of the writer's with 50,000
 * objects of 1 KB). Takes some ten milliseconds.
 */
export function collectGarbageSoon(): void {
  const collect = (): void => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
  };
  setTimeout(collect, DELAY_MS).unref();
}
