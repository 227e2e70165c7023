import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { definePlugin, type PluginWithSchema } from '../../api/plugin.js';
import { ConfigError, type Plugin } from '../../api/point.js';
import { errorPlace } from './errorPlace.js';
import { versionedUrl } from './moduleVersions.js';
import { provideOwnCopy } from './ownCopy.js';
import { partsOf } from './specifier.js';
import { messagesOf } from '../calls/stack.js';

const isPlugin = (value: unknown): value is Plugin => {
  const { name, parse, contribute } = (value ?? {}) as Partial<Plugin>;
  return typeof name === 'string' && name !== '' && typeof parse === 'function' && typeof contribute === 'function';
};

/** Whether a value is a plugin with a schema that was not created with definePlugin. */
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

/** Advice about errors of imports, by their code. */
const IMPORT_FIXES: ReadonlyMap<string | undefined, string> = new Map([
  ['ERR_UNSUPPORTED_DIR_IMPORT', 'name the module in this folder, or install the package and use its name'],
  ['ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'use types alone, which Node.js can erase, or compile it and name the result'],
  ['ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING', 'compile the package, and export the result'],
]);

/** A path that ends as those of TypeScript do. */
const isTypeScript = (path: string): boolean => /\.[cm]?ts$/.test(path);

/** Advice about a file that this version of Node.js cannot run. */
const extensionFix = (message: string): string =>
  isTypeScript(message)
    ? `Node.js ${process.versions.node} runs no TypeScript: use 22.18, 24 or a newer release, or compile it and name the result`
    : 'compile it to JavaScript, and name the result';

/** Advice about a module that was not found, from the message of Node.js; undefined without advice. */
function notFoundFix(message: string): string | undefined {
  const [missing = '', importer = ''] = message.split("' imported from ");
  const source = missing.slice(missing.indexOf("'") + 1).replace(/js$/, 'ts');
  return isTypeScript(importer) && isTypeScript(source) && existsSync(source)
    ? `import ${basename(source)}, because Node.js compiles nothing`
    : undefined;
}

/** The usual fix of an import that has failed with a code; undefined if there is none. */
function fixOf(code: string | undefined, message: string): string | undefined {
  switch (code) {
    case 'ERR_UNKNOWN_FILE_EXTENSION':
      return extensionFix(message);
    case 'ERR_MODULE_NOT_FOUND':
      return notFoundFix(message);
    case 'MODULE_NOT_FOUND':
      return /'capstan(\/\w+)?'/.test(message)
        ? 'install capstan where this CommonJS module finds it, or use import in place of require'
        : undefined;
    default:
      return IMPORT_FIXES.get(code);
  }
}

/** The reason why a module could not be imported, with a fix if there is a usual one. */
function importError(error: unknown): string {
  const { code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const message = messagesOf(error);
  const fix = fixOf(code, message);
  return fix === undefined ? message : `${message.split('\n')[0]}: ${fix}`;
}

const isExplained = (error: unknown): boolean =>
  error instanceof SyntaxError || (error as Partial<NodeJS.ErrnoException> | null)?.code !== undefined;

/**
 * Imports a plugin. `path` is its position in the configuration. With a version, the main thread reads its modules
 * again unless it has already done so with this version (ModuleVersions). Throws ConfigError.
 */
export async function importPlugin(use: string, path = 'plugins', version?: number): Promise<Plugin> {
  const [url, name] = partsOf(use);
  const specifier = version === undefined || !isMainThread ? url : versionedUrl(url, version);
  let module: { readonly [name: string]: unknown };
  try {
    await provideOwnCopy(url);
    module = await import(specifier);
  } catch (error) {
    const place = await errorPlace(error, url);
    const why = `${place === undefined ? '' : `${place}: `}${importError(error)}`;
    // The stack of a syntax error, or of an error of Node.js, contains no code of the plugin.
    const cause = isExplained(error) ? undefined : { cause: error };
    throw new ConfigError(`${path}.use`, `${use} cannot be loaded: ${why}`, cause);
  }
  const plugin = exportOf(module, name);
  if (isPlugin(plugin)) return plugin;
  if (hasSchema(plugin)) return definePlugin(plugin);
  throw new ConfigError(
    `${path}.use`,
    `${use} exports no plugin; export by default the result of definePlugin({ name, parse, contribute })`,
  );
}
