import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../api/point.js';

/**
 * Makes a directory and those above it that do not exist, with mode 0700. `mkdir` with `recursive` is not used: it
 * never returns if the file system refuses directories with ENOENT, as `/proc` does. Throws ConfigError, which names
 * `flag`.
 */
export function makeDirectories(path: string, flag: string): void {
  const wanted = resolve(path);
  const missing: string[] = [];
  for (let next = wanted; !existsSync(next); next = dirname(next)) missing.push(next);
  try {
    for (const directory of missing.reverse()) makeOne(directory);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigError(flag, `cannot make the directory ${wanted} (${code}): name one that can be made`);
  }
  if (!statSync(wanted).isDirectory()) throw new ConfigError(flag, `${wanted} is not a directory: name another`);
}

/** Creates a directory, unless another process has created it meanwhile. */
function makeOne(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
