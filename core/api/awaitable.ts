/**
 * A value or a promise of it. A value costs no turn of the event loop.
 *
 * @example
 * const cached = (name: string): Awaitable<User> => known.get(name) ?? fetchUser(name);
 */
export type Awaitable<T> = T | Promise<T>;

/** Whether a value is a promise or another thenable. */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/**
 * Calls `next` with a value: synchronously unless it is a promise, so that values cost no turn of the event loop. The
 * `then` of another thenable may do anything, so that one is first made a promise.
 */
export const after = <T, U>(value: Awaitable<T>, next: (value: T) => U): Awaitable<U> =>
  isPromise(value) ? Promise.resolve(value).then(next) : next(value);
