import { ConfigError } from '../api/point.js';

/**
 * Runs the check of the file or value that a flag names. Returns its result. If it throws a ConfigError, which names a
 * file or field, the flag is added.
 */
export function atFlag<T>(flag: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(flag, error.message);
    throw error;
  }
}
