import { TestRunner } from 'vitest';

/** The time limit in hooks in milliseconds, somewhat below the limit of the runner. */
const HOOK_MS = 108_000;
/**
 * The part of the time limit of a test after which polling ends, so that the error of the test names the missing
 * condition.
 */
const PART = 0.9;
/**
 * The shortest and the longest pause between two polls, in milliseconds. In between it is a tenth of the time that has
 * passed, because polling a server takes CPU time from the work that the test waits for.
 */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 100];

/** The real timers, which tests may replace. */
const { setTimeout: later } = globalThis;
const now = performance.now.bind(performance);

/** Calls `attempt` until it returns. Rejects with the last error shortly before the time limit of the test. */
export async function eventuallyPasses<T>(attempt: () => T | Promise<T>): Promise<T> {
  const limit = TestRunner.getCurrentTest()?.timeout;
  const began = now();
  const until = began + (limit === undefined ? HOOK_MS : limit * PART);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (now() > until) throw error;
    }
    const pause = Math.min(Math.max((now() - began) / 10, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    await new Promise(resolve => later(resolve, pause));
  }
}

/**
 * Calls `ask` until its result satisfies `wanted`, by default until it is truthy, and resolves with it: for changes
 * that no event announces. Rejects with the last result, or error, shortly before the time limit of the test.
 */
export function eventually<T>(ask: () => T | Promise<T>): Promise<Exclude<T, false | undefined>>;
export function eventually<T>(ask: () => T | Promise<T>, wanted: (answer: T) => unknown): Promise<T>;
export function eventually<T>(
  ask: () => T | Promise<T>,
  wanted: (answer: T) => unknown = answer => answer,
): Promise<T> {
  return eventuallyPasses(async () => {
    const answer = await ask();
    if (!wanted(answer)) throw new Error(`the answer is still ${JSON.stringify(answer)}`);
    return answer;
  });
}
