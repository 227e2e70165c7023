import { ConfigError } from '../api/point.js';

/** The next step if a file that a flag names cannot be read. */
export const READABLE = 'name a file that exists and may be read';

/**
 * The error for a file that a flag names and that cannot be read, with the error code of the system and the next step.
 */
export const unreadableError = (flag: string, file: string, error: unknown): ConfigError =>
  new ConfigError(flag, `cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}; ${READABLE}`);
