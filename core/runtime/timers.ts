/**
 * The timers of a thread. Nothing else in the project sets one. All call the global functions each time, which tests
 * replace with virtual ones. `node:timers/promises` and `AbortSignal.timeout` are not used: tests cannot replace them.
 */

/** Calls a function once, after at least this many milliseconds (1 to 2³¹ - 1; immediately for other values). */
export const setTimeout = (callback: () => void, milliseconds: number): NodeJS.Timeout =>
  globalThis.setTimeout(callback, milliseconds);

/** Ends a timer of `setTimeout`. Does nothing if it has called its function, or if there is none. */
export const clearTimeout = (timer: NodeJS.Timeout | undefined): void => globalThis.clearTimeout(timer);

/** Calls a function repeatedly, at an interval in milliseconds. */
export const setInterval = (callback: () => void, milliseconds: number): NodeJS.Timeout =>
  globalThis.setInterval(callback, milliseconds);

/** Ends a timer of `setInterval`. Does nothing if there is none. */
export const clearInterval = (timer: NodeJS.Timeout | undefined): void => globalThis.clearInterval(timer);

/** Calls a function in the next turn of the event loop, after I/O that is ready. */
export const setImmediate = (callback: () => void): void => void globalThis.setImmediate(callback);

/**
 * Resolves in the next turn of the event loop. To be awaited during long work, so that other requests are served
 * meanwhile.
 */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Resolves after at least this many milliseconds. With `ref: false`, the process may end meanwhile. */
export const delay = (milliseconds: number, { ref = true } = {}): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    if (!ref) timer.unref();
  });

/** A signal that is aborted after this many milliseconds, with a TimeoutError. Does not keep the process alive. */
export function timeoutSignal(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'));
  setTimeout(abort, milliseconds).unref();
  return controller.signal;
}
