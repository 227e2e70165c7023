/* Limits that the model and the plugin interface need; core/limits.ts has them too, with all others. */

/** Nesting of any decoded body: deeper documents overflow the stacks of recursive functions. Above it: 400. */
export const DEPTH = 512;
/**
 * Characters of all that an authenticator says of a user. It is sent between threads with each write, and remembered
 * with the credentials.
 */
export const USER_CHARACTERS = 256 * 1024;
/** Violations that one function of a plugin returns: all of them are in one answer, each at least twice. */
export const VIOLATIONS = 10_000;
/** Pause before the first retry of a key of a reconciler that failed: most conflicts are over by then. */
export const BACK_OFF_MIN_MS = 5;
/** The longest pause before such a retry: what is repaired meanwhile is noticed soon, and failures are few by then. */
export const BACK_OFF_MAX_MS = 30_000;
/** Timers of Node.js end at once beyond this many milliseconds. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Keys that a reconciler may handle at once: each may have a request in flight. */
export const RECONCILES_AT_ONCE = 256;
/** Kinds of events of controllers that are remembered, so that the next of a kind is counted in the same Event object. */
export const RECORDED_EVENTS = 1000;
/** Events that one controller may record about one object at once; more of them say nothing new, and are dropped. */
export const EVENT_BURST = 25;
/** The time after which an object may have a further event. */
export const EVENT_REFILL_MS = 5 * 60_000;
/** Events of a controller that wait to be written; further ones are dropped. */
export const EVENTS_WAITING = 1000;
