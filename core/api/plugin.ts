import type { Plugin } from './point.js';
import { type ConfigSchema, parseWith } from './plugin/schema.js';
import { API_VERSION } from './plugin/version.js';

/**
 * A plugin that gives a schema of its configuration instead of `parse`.
 *
 * @example
 * const plugin: PluginWithSchema<string> = { name: 'greeter', config: z.string(), contribute: greeting => [] };
 */
export interface PluginWithSchema<Config> extends Omit<Plugin<Config>, 'parse'> {
  readonly config: ConfigSchema<Config>;
}

/** Whether a value is a schema. It may come from a plugin in JavaScript, where no type requires one. */
const isSchema = (config: Partial<ConfigSchema<unknown>> | undefined): boolean =>
  typeof config?.['~standard']?.validate === 'function';

/**
 * Checks the type of a plugin where it is written. Adds the version of the interface that it is written for, and
 * `parse` if it has a schema of its configuration instead. Throws TypeError if it has neither.
 *
 * @example
 * export default definePlugin({ name: 'nothing', parse: () => null, contribute: () => [] });
 */
export function definePlugin<Config>(plugin: Plugin<Config> | PluginWithSchema<Config>): Plugin<Config> {
  if ('parse' in plugin) return { apiVersion: API_VERSION, ...plugin };
  if (!isSchema(plugin.config))
    throw new TypeError(
      `the plugin ${plugin.name} needs parse, or config with a schema; without settings it has parse: () => null`,
    );
  return { apiVersion: API_VERSION, ...plugin, parse: parseWith(plugin.config) };
}
