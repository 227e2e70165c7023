/** The random values of the project. Nothing else draws any, so that one place decides where they come from. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export {
  /** This many unpredictable bytes, for keys and passwords. */
  randomBytes,
  /** An integer from the first number on and below the second, each as likely. */
  randomInt,
  /** A UUID of version 4 (RFC 9562), in lower case. */
  randomUUID,
};

/** A number from 0 on and below 1. May be guessed: for pauses that differ between clients, never for secrets. */
export const randomFraction = (): number => Math.random();
