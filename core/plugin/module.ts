import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, type Plugin } from '../api/point.js';

/** A module and the name of its export, of `module#export`; without one it is the default export. */
function partsOf(use: string): readonly [specifier: string, name: string] {
  const [specifier = '', name = 'default'] = use.split('#');
  return [specifier, name];
}

/** The file of a package that is installed in `directory` or above it; undefined if there is none. */
function packageFile(name: string, directory: string): string | undefined {
  try {
    const file = createRequire(join(directory, 'package.json')).resolve(name);
    return isAbsolute(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Where a plugin's `use` leads, independent of the working directory: paths and packages are looked for from
 * `directory`. A package that is not installed there keeps its name and is looked for beside this server.
 */
export function resolveModule(use: string, directory: string): string {
  const [specifier] = partsOf(use);
  const rest = use.slice(specifier.length);
  if (specifier.startsWith('file:')) return use;
  if (specifier.startsWith('.') || isAbsolute(specifier))
    return pathToFileURL(resolve(directory, specifier)).href + rest;
  const file = packageFile(specifier, directory);
  return file === undefined ? use : pathToFileURL(file).href + rest;
}

const isPlugin = (value: unknown): value is Plugin => {
  const { name, parse, contribute } = (value ?? {}) as Partial<Plugin>;
  return typeof name === 'string' && name !== '' && typeof parse === 'function' && typeof contribute === 'function';
};

/** Imports a plugin. `path` is the place of the configuration that names it. Throws ConfigError. */
export async function importPlugin(use: string, path = 'plugins'): Promise<Plugin> {
  const [specifier, name] = partsOf(use);
  let module: { readonly [name: string]: unknown };
  try {
    module = await import(specifier);
  } catch (error) {
    throw new ConfigError(`${path}.use`, `${use} cannot be loaded: ${(error as Error)?.message ?? String(error)}`);
  }
  const plugin = module[name];
  if (isPlugin(plugin)) return plugin;
  throw new ConfigError(
    `${path}.use`,
    `${use} exports no plugin; export by default the result of definePlugin({ name, parse, contribute })`,
  );
}
