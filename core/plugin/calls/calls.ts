import type { Log, ResourceEvent } from '../../api/host.js';
import { isPromise } from '../../api/awaitable.js';
import { type Contributed, PluginFailure } from '../../api/point.js';
import { Refusal } from '../../model/refusal.js';
import { monotonicTime } from '../../runtime/clock.js';
import type { PointCounters } from './callCounters.js';
import type { RunningCalls } from './runningCalls.js';
import { currentRequest } from './requestScope.js';
import { stackOf } from './stack.js';
import { DeadlineExceeded, withinDeadline } from './deadline.js';
import { formatDuration } from '../../settings/values.js';

/** A plugin at an extension point, with the counters of its calls. */
export interface CallTarget {
  readonly plugin: string;
  readonly point: string;
  /** Time limit of a call in milliseconds. */
  readonly timeout: number;
  /** Returns whether the time limit is suspended now. */
  readonly isUnlimited?: (() => boolean) | undefined;
  readonly log: Log;
  readonly counters: Pick<PointCounters, 'countCall' | 'countFailure'>;
  /**
   * Where the thread records the calls that it is executing, and the cell of this plugin and point; absent in threads
   * that are not watched.
   */
  readonly running?: { readonly calls: RunningCalls; readonly cell: number };
}

const isRefusal = (thrown: unknown): boolean => thrown instanceof Refusal;

/** Whether a thrown value is a refusal that cannot be sent: plugins in JavaScript may set any reason or code. */
const isMalformed = (thrown: unknown): boolean =>
  thrown instanceof Refusal && !(Number.isInteger(thrown.code) && thrown.code >= 400 && thrown.code < 600);

/** Logs a failure of a plugin: where it was called, for which request, for how long, and the error with its causes. */
function logFailure(
  { plugin, point, log }: Pick<CallTarget, 'plugin' | 'point' | 'log'>,
  thrown: unknown,
  milliseconds: number,
  about: object,
  what: string,
): void {
  const durationMs = Math.round(milliseconds * 10) / 10;
  const stack = thrown instanceof DeadlineExceeded ? {} : { stack: stackOf(thrown) };
  log.error(
    { plugin, point, ...about, ...currentRequest()?.fields, durationMs, ...stack },
    `plugin ${plugin}: ${what}`,
  );
}

/**
 * Guards a listener of a plugin: if it throws or its promise is rejected, this is logged and counted as a failure of
 * the plugin. Other listeners and the thread are not affected.
 */
export function guardListener(
  target: Omit<CallTarget, 'timeout'>,
  listener: (event: ResourceEvent) => unknown,
): (event: ResourceEvent) => void {
  return event => {
    const report = (thrown: unknown): void => {
      target.counters.countFailure('error');
      const { type, storageName: of, namespace, name } = event;
      const about = { event: type, of, ...(namespace !== '' && { namespace }), object: name };
      logFailure(target, thrown, monotonicTime() - began, about, 'a listener failed at an event');
    };
    const began = monotonicTime();
    try {
      const result = callNoted(target, () => listener(event));
      if (isPromise(result)) result.then(undefined, report);
    } catch (thrown) {
      report(thrown);
    }
  };
}

/** Calls `operation`, and records during the call that the thread is executing it. */
function callNoted<T>({ running }: Pick<CallTarget, 'running'>, operation: () => T): T {
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
  const { running, isUnlimited } = target;
  const limit = isUnlimited && { isSuspended: isUnlimited };
  return (operation, mayThrow = isRefusal, about = {}) => {
    const began = monotonicTime();
    const reportFailure = (thrown: unknown): PluginFailure => {
      const late = thrown instanceof DeadlineExceeded;
      target.counters.countFailure(late ? 'timeout' : 'error');
      const why = late
        ? `did not answer within ${formatDuration(target.timeout)}`
        : 'failed; see the log of the server';
      logFailure(target, thrown, monotonicTime() - began, about, `the call ${late ? why : 'failed'}`);
      return new PluginFailure(target.plugin, target.point, why);
    };
    const rethrow = (thrown: unknown): never => {
      throw !(thrown instanceof DeadlineExceeded) && mayThrow(thrown) && !isMalformed(thrown)
        ? thrown
        : reportFailure(thrown);
    };
    const countCall = (): void => target.counters.countCall(monotonicTime() - began);
    try {
      const result = callNoted(target, operation);
      if (isPromise(result)) {
        running?.calls.countWaiting(running.cell, 1);
        const end = (): void => {
          running?.calls.countWaiting(running.cell, -1);
          countCall();
        };
        return withinDeadline(result, target.timeout, limit).then(
          value => {
            end();
            return value;
          },
          (thrown: unknown) => {
            end();
            return rethrow(thrown);
          },
        );
      }
      countCall();
      return result;
    } catch (thrown) {
      countCall();
      return rethrow(thrown);
    }
  };
}
