import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import { formatDuration } from '../../settings/values.js';

/** Thrown if an operation did not end within its time. Its later result is ignored. */
export class DeadlineExceeded extends Error {
  constructor(readonly milliseconds: number) {
    super(`no answer within ${formatDuration(milliseconds)}`);
  }
}

/** Options for waiting for an operation. */
export interface DeadlineOptions {
  readonly keepAlive?: boolean;
  readonly isSuspended?: (() => boolean) | undefined;
}

/**
 * Resolves with the result of `work`, or rejects with DeadlineExceeded after `ms` milliseconds. Waiting does not keep
 * the process alive, unless `keepAlive` is set. If `isSuspended` returns true at the deadline, the time begins again.
 */
export function withinDeadline<T>(
  work: T | PromiseLike<T>,
  milliseconds: number,
  { keepAlive = false, isSuspended = () => false }: DeadlineOptions = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const begin = (): void => {
      timer = setTimeout(() => {
        if (isSuspended()) begin();
        else reject(new DeadlineExceeded(milliseconds));
      }, milliseconds);
      if (!keepAlive) timer.unref();
    };
    begin();
    Promise.resolve(work).then(
      value => {
        clearTimeout(timer);
        resolve(value);
      },
      (thrown: unknown) => {
        clearTimeout(timer);
        reject(thrown);
      },
    );
  });
}
