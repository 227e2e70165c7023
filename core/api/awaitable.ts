import type { Awaitable } from './point.js';

/** Whether a value must be waited for. */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** What `next` makes of a value: at once if the value is there, so that nothing is scheduled for it. */
export const after = <T, U>(value: Awaitable<T>, next: (value: T) => U): Awaitable<U> =>
  isPromise(value) ? value.then(next) : next(value);
