/**
 * The two clocks of a thread. Nothing else in the project reads time. Both call the global functions each time, which
 * tests replace with virtual ones.
 */

/**
 * Milliseconds since the epoch, by the clock of the operating system, which may be set back and differs between
 * machines.
 */
export const systemTime = (): number => Date.now();

/** Milliseconds since the start of the thread, with fractions. Never goes back: for durations and deadlines. */
export const monotonicTime = (): number => performance.now();
