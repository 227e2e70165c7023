/** The random values of the project. Nothing else generates any, so their source is decided in one place. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export {
  /** The given number of unpredictable bytes, for keys and passwords. */
  randomBytes,
  /** An integer from the first number (inclusive) to the second (exclusive), each equally likely. */
  randomInt,
  /** A UUID of version 4 (RFC 9562), in lower case. */
  randomUUID,
};

/**
 * A number from 0 (inclusive) to 1 (exclusive). Predictable: for pauses that differ between clients, never for secrets.
 */
export const randomFraction = (): number => Math.random();
