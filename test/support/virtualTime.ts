import { vi } from 'vitest';

/** Virtual milliseconds between two looks whether something has ended. Each look gives real I/O a turn. */
const STEP_MS = 10;

/** The functions of `core/runtime` that are virtual. Turns of the event loop and I/O stay real. */
const VIRTUAL = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const;

/**
 * Runs `work` on a virtual clock of this process, which stands still unless `pass` is awaited: it lets time pass until
 * a promise is settled, without waiting for it. Timers that were set before stay real.
 */
export async function inVirtualTime<T>(work: (pass: <P>(until: Promise<P>) => Promise<P>) => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: [...VIRTUAL] });
  try {
    return await work(async until => {
      let isSettled = false;
      const settle = (): void => {
        isSettled = true;
      };
      until.then(settle, settle);
      while (!isSettled) await vi.advanceTimersByTimeAsync(STEP_MS);
      return await until;
    });
  } finally {
    vi.useRealTimers();
  }
}
