import { isPromise } from '../../api/awaitable.js';
import { ConfigError, type Contribution, type Plugin } from '../../api/point.js';
import type { PluginSpec } from '../../threads/data.js';
import { checkApiVersion } from './apiVersion.js';
import { pluginError } from './errors.js';
import { importPlugin } from './module.js';
import { resolveModule } from './resolve.js';
import { checkPluginUse, type PluginUse } from '../settings.js';

/** A plugin of the configuration, with its position there and the points to which it contributes. */
interface Checked {
  readonly spec: PluginSpec;
  readonly plugin: Plugin;
}

/** Points at which failures of calls may be ignored, and points at which they must not be. */
const IGNORABLE: ReadonlySet<string> = new Set(['mutator', 'validator']);
const NEVER_IGNORED: ReadonlySet<string> = new Set(['authenticator', 'authorizer']);

/**
 * Checks all plugins of the configuration before a thread loads one: that they can be imported, their settings and
 * names, and that the plugins which they require are configured. Returns the entries that the threads load, which do
 * not depend on the working directory. `builtIn` returns the built-in plugins, which can also be required; `version` is
 * that of the modules (ModuleVersions). Throws ConfigError.
 */
export async function checkPlugins(
  uses: readonly PluginUse[],
  builtIn: () => readonly PluginSpec[],
  version?: number,
): Promise<readonly PluginSpec[]> {
  const checked = await Promise.all(uses.map((use, i) => checkPlugin(use, `plugins[${i}]`, version)));
  checkNames(checked);
  await checkRequired(checked, builtIn);
  return checked.map(({ spec }) => spec);
}

async function checkPlugin(given: PluginUse, path: string, version: number | undefined): Promise<Checked> {
  const checked = checkPluginUse(given, path);
  const use = resolveModule(checked.use, [process.cwd()], path);
  const plugin = await importPlugin(use, path, version);
  checkApiVersion(plugin, path);
  const { requires = [] } = plugin;
  if (!Array.isArray(requires) || requires.some(name => typeof name !== 'string'))
    throw new ConfigError(`${path}.use`, `the plugin ${plugin.name} must require a list of names of plugins`);
  const contributions = contributionsOf(plugin, checked.config, path);
  if (checked.failurePolicy === 'Ignore') checkIgnorable(plugin.name, contributions, path);
  const points = [...new Set(contributions.map(({ point }) => point))];
  return { plugin, spec: { ...checked, use, path, name: plugin.name, points, version } };
}

/** The contributions of a plugin with its settings. Throws ConfigError with the field and the name of the plugin. */
function contributionsOf(plugin: Plugin, config: unknown, path: string): readonly Contribution[] {
  const { name } = plugin;
  const attempt = <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const named = pluginError(error, name, path);
      throw named instanceof ConfigError
        ? named
        : new ConfigError(`${path}.config`, named.message, { cause: named.cause });
    }
  };
  const parsed = attempt(() => plugin.parse(config));
  refusePromise(parsed, `the plugin ${name}: parse must return the settings, not a promise: read files in make`, path);
  const contributions: unknown = attempt(() => plugin.contribute(parsed));
  refusePromise(contributions, `the plugin ${name}: contribute must return a list, not a promise`, path);
  if (Array.isArray(contributions) && contributions.every(one => typeof one?.make === 'function')) return contributions;
  throw new ConfigError(`${path}.use`, `the plugin ${name} must contribute a list of point.of(make)`);
}

/** Throws ConfigError if a value is a promise, which is not awaited. */
function refusePromise(value: unknown, message: string, path: string): void {
  if (!isPromise(value)) return;
  value.then(undefined, () => undefined);
  throw new ConfigError(`${path}.use`, message);
}

function checkIgnorable(name: string, contributions: readonly Contribution[], path: string): void {
  const points = contributions.map(({ point }) => point);
  const vital = points.find(point => NEVER_IGNORED.has(point));
  if (vital !== undefined)
    throw new ConfigError(
      `${path}.failurePolicy`,
      `must be Fail: ${name} contributes to the point ${vital}, whose failures are never ignored`,
    );
  if (!points.some(point => IGNORABLE.has(point)))
    throw new ConfigError(
      `${path}.failurePolicy`,
      `is for mutators and validators, and ${name} contributes neither: omit it`,
    );
}

/** A plugin may be used several times, but different plugins need different names. */
function checkNames(checked: readonly Checked[]): void {
  const byName = new Map<string, PluginSpec>();
  for (const { spec, plugin } of checked) {
    const earlier = byName.get(plugin.name);
    if (earlier && earlier.use !== spec.use)
      throw new ConfigError(
        `${spec.path}.use`,
        `${spec.use} is a plugin named ${plugin.name}, as ${earlier.path} is: rename one of them`,
      );
    byName.set(plugin.name, earlier ?? spec);
  }
}

/**
 * Checks that required plugins are configured. Order does not matter, and plugins may require each other. Built-in
 * plugins are imported only if one of them is required.
 */
async function checkRequired(checked: readonly Checked[], builtIn: () => readonly PluginSpec[]): Promise<void> {
  const names = new Set(checked.map(({ plugin }) => plugin.name));
  const unmet = checked.flatMap(({ spec, plugin }) =>
    (plugin.requires ?? []).filter(name => !names.has(name)).map(name => ({ spec, plugin, name })),
  );
  if (unmet.length === 0) return;
  const own = await Promise.all(builtIn().map(async ({ use }) => (await importPlugin(use)).name));
  const missing = unmet.find(({ name }) => !own.includes(name));
  if (!missing) return;
  const { spec, plugin, name } = missing;
  throw new ConfigError(
    spec.path ?? 'plugins',
    `the plugin ${plugin.name} requires the plugin ${name}, which is not configured: add it to plugins, or omit ${plugin.name}`,
  );
}
