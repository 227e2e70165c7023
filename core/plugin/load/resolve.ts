import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolve as resolveFrom } from 'import-meta-resolve';
import { ConfigError } from '../../api/point.js';
import { partsOf } from './specifier.js';

/**
 * The URL of a module of a package that is installed in `directory` or above it; undefined if the package is not
 * installed.
 */
function resolvePackage(specifier: string, directory: string, path: string): string | undefined {
  try {
    return resolveFrom(specifier, pathToFileURL(join(directory, 'package.json')).href);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw new ConfigError(`${path}.use`, `${specifier} cannot be loaded: ${message}`);
  }
}

/** Whether a package is installed where this server is, so that a message can say that this place is not searched. */
function isInstalledHere(specifier: string): boolean {
  try {
    resolveFrom(specifier, import.meta.url);
    return true;
  } catch {
    return false;
  }
}

/**
 * The URL of the module in the `use` of a plugin, with its `#export`. Paths are relative to the first directory.
 * Packages are searched from each directory, never from where this server is installed. `path` is the position in the
 * configuration. Throws ConfigError.
 */
export function resolveModule(use: string, directories: readonly string[], path = 'plugins'): string {
  const [specifier] = partsOf(use);
  const rest = use.slice(specifier.length);
  if (specifier.startsWith('file:')) return use;
  if (specifier.startsWith('.') || isAbsolute(specifier))
    return pathToFileURL(resolve(directories[0] ?? '.', specifier)).href + rest;
  const places = [...new Set(directories)];
  for (const directory of places) {
    const url = resolvePackage(specifier, directory, path);
    if (url !== undefined) return url + rest;
  }
  const isBeside = isInstalledHere(specifier) ? ', but only beside Capstan, where plugins are not looked for' : '';
  throw new ConfigError(
    `${path}.use`,
    `the package ${specifier} is not installed in ${places.join(', nor in ')}, nor above${isBeside}: install it there, or write ./ before a path`,
  );
}
