import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../api/point.js';
import { PLUGIN_CALL_MS } from '../../limits.js';
import { checkPlugins } from '../../plugin/load/check.js';
import { importPlugin } from '../../plugin/load/module.js';
import { builtInPlugins } from '../../server/plugins.js';
import type { PluginSpec } from '../../threads/data.js';
import { Columns } from '../client/printed.js';
import { loadSettings } from '../config.js';
import type { Io } from '../serve.js';
import { formatDuration } from '../../settings/values.js';

const HEADINGS = ['NAME', 'POINTS', 'TIMEOUT', 'FAILURE POLICY', 'MODULE'];

/** `plugins list` and `plugin init`. Returns the exit code; throws ConfigError for bad arguments. */
export async function pluginsCommand([command, ...args]: readonly string[], io: Io): Promise<number> {
  if (command === 'list') return await listPlugins(args, io);
  if (command === 'init') return await (await import('./pluginInit.js')).initCommand(args, io);
  throw new ConfigError(
    command ?? 'plugins',
    'use: capstan plugins list [flags of serve], or capstan plugin init NAME',
  );
}

/** Prints the plugins of a server with these flags, in the order in which they are called. */
async function listPlugins(args: readonly string[], io: Io): Promise<number> {
  const settings = loadSettings(args);
  const plugins = await checkPlugins(settings.plugins, () => builtInPlugins(settings));
  const rows = await Promise.all(builtInPlugins(settings, plugins).map(spec => rowOf(spec)));
  const columns = new Columns([HEADINGS, ...rows]);
  for (const row of [HEADINGS, ...rows]) io.out(columns.line(row));
  return 0;
}

/** A module as a path, with its `#export`. */
const pathOf = (use: string): string => (use.startsWith('file:') ? fileURLToPath(use) + new URL(use).hash : use);

/** Name, points, timeout, failure policy and module of a plugin. */
async function rowOf({ use, config, path, name, points, timeout, failurePolicy }: PluginSpec): Promise<string[]> {
  if (path !== undefined)
    return [
      name ?? '',
      points?.join(',') ?? '',
      formatDuration(timeout ?? PLUGIN_CALL_MS),
      failurePolicy ?? 'Fail',
      pathOf(use),
    ];
  const plugin = await importPlugin(use);
  const own = plugin.contribute(plugin.parse(config)).map(({ point }) => point);
  return [plugin.name, [...new Set(own)].join(','), formatDuration(PLUGIN_CALL_MS), 'Fail', 'built-in'];
}
