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
