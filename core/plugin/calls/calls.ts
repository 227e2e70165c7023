import type { Log, ResourceEvent } from '../../api/host.js';
import { isPromise } from '../../api/awaitable.js';
import { type Contributed, PluginFailure } from '../../api/point.js';
import { Refusal } from '../../model/refusal.js';
import type { PointCounters } from './callCounters.js';
import type { RunningCalls } from './runningCalls.js';
import { stackOf } from './stack.js';
import { DeadlineExceeded, withinDeadline } from './deadline.js';

/** A plugin at an extension point, with the counters of its calls. */
export interface CallTarget {
  readonly plugin: string;
  readonly point: string;
  /** Time limit of a call in milliseconds. */
  readonly timeout: number;
  readonly log: Log;
  readonly counters: Pick<PointCounters, 'countCall' | 'countFailure'>;
  /**
   * Where the thread notes the calls that it is in, and the cell of this one; absent in threads that are not watched.
   */
  readonly running?: { readonly calls: RunningCalls; readonly cell: number };
}

const isRefusal = (thrown: unknown): boolean => thrown instanceof Refusal;

/** Whether this is a refusal that cannot be sent: plugins in JavaScript may set any reason or code. */
const isMalformed = (thrown: unknown): boolean =>
  thrown instanceof Refusal && !(Number.isInteger(thrown.code) && thrown.code >= 400 && thrown.code < 600);

/**
 * A listener of a plugin: if it throws, or its promise is rejected, that is logged and counted as a failure of the
 * plugin. Other listeners, and the thread, are not affected.
 */
export function guardListener(
  target: Pick<CallTarget, 'plugin' | 'point' | 'log' | 'counters'>,
  listener: (event: ResourceEvent) => unknown,
): (event: ResourceEvent) => void {
  return event => {
    const report = (thrown: unknown): void => {
      const { plugin, point, log, counters } = target;
      counters.countFailure('error');
      const fields = { point, event: event.type, of: event.storageName, stack: stackOf(thrown) };
      log.error(fields, `plugin ${plugin}: a listener failed at an event`);
    };
    try {
      const result = listener(event);
      if (isPromise(result)) result.then(undefined, report);
    } catch (thrown) {
      report(thrown);
    }
  };
}

/** Calls `operation`, and notes meanwhile that the thread is in it. */
function callNoted<T>({ running }: CallTarget, operation: () => T): T {
  if (!running) return operation();
  const { calls, cell } = running;
  const before = calls.enter(cell);
  try {
    return operation();
  } finally {
    calls.leave(before);
  }
}

/**
 * Creates the function through which the server calls a plugin while it processes a request. It limits the time of
 * calls and counts them. A call that returns synchronously needs neither timer nor promise.
 */
export function callerOf(target: CallTarget): Contributed<unknown>['call'] {
  const { running } = target;
  const reportFailure = (thrown: unknown): PluginFailure => {
    const late = thrown instanceof DeadlineExceeded;
    target.counters.countFailure(late ? 'timeout' : 'error');
    const why = late ? `did not answer within ${target.timeout} ms` : 'failed; see the log of the server';
    const fields = { point: target.point, stack: stackOf(thrown) };
    target.log.error(fields, `plugin ${target.plugin}: the call ${late ? why : 'failed'}`);
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
      const result = callNoted(target, operation);
      if (isPromise(result)) {
        running?.calls.countWaiting(running.cell, 1);
        return withinDeadline(result, target.timeout)
          .finally(() => {
            running?.calls.countWaiting(running.cell, -1);
            countCall();
          })
          .catch((thrown: unknown) => rethrow(thrown, mayThrow));
      }
      countCall();
      return result;
    } catch (thrown) {
      countCall();
      return rethrow(thrown, mayThrow);
    }
  };
}
