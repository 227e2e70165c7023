import { vi } from 'vitest';

/** Virtual milliseconds between two checks for the end of something. Each check gives real I/O a turn. */
const STEP_MS = 10;

/** The functions of `core/runtime` that are virtual. Turns of the event loop and I/O remain real. */
const VIRTUAL = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const;

/**
 * Runs `work` with a virtual clock for this process, which advances only while `pass` is awaited: `pass` advances it
 * until a promise is settled, without real waiting. Timers that were set before remain real.
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
