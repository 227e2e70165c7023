import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolve as resolveFrom } from 'import-meta-resolve';
import { definePlugin, type PluginWithSchema } from '../api/plugin.js';
import { ConfigError, type Plugin } from '../api/point.js';
import { provideOwnCopy } from './ownCopy.js';

/** Splits `module#export` into the module and the name of its export; without a name it is the default export. */
function partsOf(use: string): readonly [specifier: string, name: string] {
  const [specifier = '', name = 'default'] = use.split('#');
  return [specifier, name];
}

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
  throw new ConfigError(
    `${path}.use`,
    `the package ${specifier} is not installed in ${places.join(', nor in ')}, nor above: install it there, or write ./ before a path`,
  );
}

const isPlugin = (value: unknown): value is Plugin => {
  const { name, parse, contribute } = (value ?? {}) as Partial<Plugin>;
  return typeof name === 'string' && name !== '' && typeof parse === 'function' && typeof contribute === 'function';
};

/** Whether this is a plugin with a schema that was not made with definePlugin. */
const hasSchema = (value: unknown): value is PluginWithSchema<unknown> => {
  const { config, parse } = (value ?? {}) as Partial<PluginWithSchema<unknown> & Plugin>;
  return (
    parse === undefined &&
    typeof config?.['~standard']?.validate === 'function' &&
    isPlugin({ ...(value as object), parse: () => null })
  );
};

/** Imports a plugin. `path` is its position in the configuration. Throws ConfigError. */
export async function importPlugin(use: string, path = 'plugins'): Promise<Plugin> {
  const [specifier, name] = partsOf(use);
  let module: { readonly [name: string]: unknown };
  try {
    provideOwnCopy(specifier);
    module = await import(specifier);
  } catch (error) {
    throw new ConfigError(`${path}.use`, `${use} cannot be loaded: ${(error as Error)?.message ?? String(error)}`);
  }
  const plugin = module[name];
  if (isPlugin(plugin)) return plugin;
  if (hasSchema(plugin)) return definePlugin(plugin);
  throw new ConfigError(
    `${path}.use`,
    `${use} exports no plugin; export by default the result of definePlugin({ name, parse, contribute })`,
  );
}
