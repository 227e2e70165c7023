import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Host, Thread } from '../api/host.js';
import { ConfigError, type Contributed, type Plugin, type Point } from '../api/point.js';
import type { PluginSpec } from '../threads/data.js';

/** The plugins of one thread, by point. */
export interface Plugins {
  /** Combines what was contributed at that point; once per thread. */
  at<In, Out>(point: Point<In, Out>): Out;
}

/** Where a specifier leads: a path (absolute or relative to the working directory), a file URL, or a package name. */
function moduleOf(use: string): string {
  if (use.startsWith('file:')) return use;
  if (use.startsWith('.') || isAbsolute(use)) return pathToFileURL(resolve(use)).href;
  return use;
}

/** `module` or `module#export`; without an export the default one. */
async function importPlugin(use: string): Promise<Plugin> {
  const [specifier = '', name = 'default'] = use.split('#');
  let module: { [name: string]: Plugin | undefined };
  try {
    module = await import(moduleOf(specifier));
  } catch (error) {
    throw new ConfigError(`plugins: ${use}`, `cannot be loaded: ${(error as Error).message}`);
  }
  const plugin = module[name];
  if (
    typeof plugin?.name !== 'string' ||
    typeof plugin.contribute !== 'function' ||
    typeof plugin.parse !== 'function'
  ) {
    throw new ConfigError(
      `plugins: ${use}`,
      'it exports no plugin; export by default the result of definePlugin({ name, parse, contribute })',
    );
  }
  return plugin;
}

/**
 * Loads the plugins that run in `thread` and makes their parts, in the order of the configuration. Throws ConfigError.
 */
export async function loadPlugins(
  specs: readonly PluginSpec[],
  thread: Thread,
  host: (plugin: string) => Host,
): Promise<Plugins> {
  const wanted = specs.filter(spec => spec.threads?.includes(thread) ?? true);
  const loaded = await Promise.all(wanted.map(async spec => ({ plugin: await importPlugin(spec.use), spec })));
  const names = new Set(loaded.map(({ plugin }) => plugin.name));
  const made = new Map<string, Contributed<unknown>[]>();
  for (const { plugin, spec } of loaded) {
    const missing = plugin.requires?.find(name => !names.has(name) && specs.every(s => s.threads === undefined));
    if (missing)
      throw new ConfigError(`plugins: ${plugin.name}`, `requires the plugin ${missing}, which is not configured`);
    for (const contribution of plugin.contribute(plugin.parse(spec.config))) {
      if (!contribution.threads.includes(thread)) continue;
      const value = await contribution.make(host(plugin.name));
      const values = made.get(contribution.point) ?? [];
      made.set(contribution.point, [...values, { plugin: plugin.name, value }]);
    }
  }
  return { at: <In, Out>(point: Point<In, Out>) => point.combine((made.get(point.name) ?? []) as Contributed<In>[]) };
}
