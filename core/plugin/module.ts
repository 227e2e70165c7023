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

/**
 * The export of a module by its name. The default export of a CommonJS module is `module.exports`; in one that was
 * compiled from an ECMAScript module, this has the member `default`.
 */
function exportOf(module: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = module[name];
  const { __esModule: isCompiled, default: inner } = (value ?? {}) as { __esModule?: unknown; default?: unknown };
  return name === 'default' && isCompiled === true ? inner : value;
}

/** What to do about errors of imports, by their code. */
const IMPORT_FIXES: ReadonlyMap<string | undefined, string> = new Map([
  ['ERR_UNSUPPORTED_DIR_IMPORT', 'name the module in this folder, or install the package and use its name'],
  ['ERR_UNKNOWN_FILE_EXTENSION', 'compile it to JavaScript, and name the result'],
]);

/** The reason why a module could not be imported, with a fix if there is a usual one. */
function importError(error: unknown): string {
  const { message = String(error), code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const fix =
    code === 'MODULE_NOT_FOUND' && /'capstan(\/\w+)?'/.test(message)
      ? 'install capstan where this CommonJS module finds it, or use import in place of require'
      : IMPORT_FIXES.get(code);
  return fix === undefined ? message : `${message.split('\n')[0]}: ${fix}`;
}

/** Imports a plugin. `path` is its position in the configuration. Throws ConfigError. */
export async function importPlugin(use: string, path = 'plugins'): Promise<Plugin> {
  const [specifier, name] = partsOf(use);
  let module: { readonly [name: string]: unknown };
  try {
    provideOwnCopy(specifier);
    module = await import(specifier);
  } catch (error) {
    throw new ConfigError(`${path}.use`, `${use} cannot be loaded: ${importError(error)}`);
  }
  const plugin = exportOf(module, name);
  if (isPlugin(plugin)) return plugin;
  if (hasSchema(plugin)) return definePlugin(plugin);
  throw new ConfigError(
    `${path}.use`,
    `${use} exports no plugin; export by default the result of definePlugin({ name, parse, contribute })`,
  );
}
