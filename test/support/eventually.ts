/** How long an answer may take to be as wanted, in milliseconds: longer than any test, whose limit ends it before. */
const LIMIT_MS = 120_000;
/** Between two questions, in milliseconds. */
const PAUSE_MS = 10;

/**
 * Asks until the answer is as wanted, or is true if nothing else is wanted, and resolves with it. For changes that the
 * test does not cause itself and that nothing announces. A question that outlives its test ends after two minutes.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  wanted: (answer: T) => unknown = answer => answer,
): Promise<T> {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (performance.now() > until) throw new Error(`the answer is still ${JSON.stringify(answer)}`);
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
}
