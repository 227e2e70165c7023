import type { Log } from '../api/host.js';
import { isPromise } from '../api/awaitable.js';
import { type Contributed, PluginFailure } from '../api/point.js';
import { Refusal } from '../model/refusal.js';
import type { PointCounters } from './callCounters.js';
import { DeadlineExceeded, withinDeadline } from './deadline.js';

/** A plugin at an extension point, with the counters of its calls. */
export interface CallTarget {
  readonly plugin: string;
  readonly point: string;
  /** Time limit of a call in milliseconds. */
  readonly timeout: number;
  readonly log: Log;
  readonly counters: Pick<PointCounters, 'countCall' | 'countFailure'>;
}

const isRefusal = (thrown: unknown): boolean => thrown instanceof Refusal;

/** Whether this is a refusal that cannot be sent: plugins in JavaScript may set any reason or code. */
const isMalformed = (thrown: unknown): boolean =>
  thrown instanceof Refusal && !(Number.isInteger(thrown.code) && thrown.code >= 400 && thrown.code < 600);

/**
 * Creates the function through which the server calls a plugin while it processes a request. It limits the time of
 * calls and counts them. A call that returns synchronously needs neither timer nor promise.
 */
export function callerOf(target: CallTarget): Contributed<unknown>['call'] {
  const reportFailure = (thrown: unknown): PluginFailure => {
    const late = thrown instanceof DeadlineExceeded;
    const { stack = String(thrown) } = (thrown ?? {}) as Partial<Error>;
    target.counters.countFailure(late ? 'timeout' : 'error');
    const why = late ? `did not answer within ${target.timeout} ms` : 'failed; see the log of the server';
    target.log.error({ point: target.point, stack }, `plugin ${target.plugin}: the call ${late ? why : 'failed'}`);
    return new PluginFailure(target.plugin, target.point, why);
  };
  const rethrow = (thrown: unknown, mayThrow: (thrown: unknown) => boolean): never => {
    throw !(thrown instanceof DeadlineExceeded) && mayThrow(thrown) && !isMalformed(thrown)
      ? thrown
      : reportFailure(thrown);
  };
  return (operation, mayThrow = isRefusal) => {
    const began = performance.now();
    const countCall = (): void => target.counters.countCall(performance.now() - began);
    try {
      const result = operation();
      if (isPromise(result))
        return withinDeadline(result, target.timeout)
          .finally(countCall)
          .catch((thrown: unknown) => rethrow(thrown, mayThrow));
      countCall();
      return result;
    } catch (thrown) {
      countCall();
      return rethrow(thrown, mayThrow);
    }
  };
}
