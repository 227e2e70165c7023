import { ConfigError } from '../api/point.js';

/**
 * Runs the check of the file or value that a flag names. Returns its result. A ConfigError of it, which names a file or
 * field, names the flag as well.
 */
export function atFlag<T>(flag: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(flag, error.message);
    throw error;
  }
}
