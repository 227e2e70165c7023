import { type FailurePolicy, ConfigError } from '../api/point.js';
import { PLUGIN_CALL_MAX_MS } from '../limits.js';
import { copyJson, NotJson } from '../model/text/json.js';
import type { Json } from '../model/object.js';
import { formatDuration } from '../settings/values.js';

/** A plugin in the configuration: a package or path, its settings, and how its calls are handled. */
export interface PluginUse {
  readonly use: string;
  /** JSON, because it is sent to every thread. */
  readonly config?: unknown;
  /** Time limit of a call in milliseconds. Default: PLUGIN_CALL_MS. */
  readonly timeout?: number;
  /** Whether a request fails when a call of a mutator or validator fails. Default: Fail. */
  readonly failurePolicy?: FailurePolicy;
}

const FIELDS = ['use', 'config', 'timeout', 'failurePolicy'];
const POLICIES: readonly unknown[] = ['Fail', 'Ignore'] satisfies FailurePolicy[];

/**
 * Validates the entry of a plugin in the configuration and converts its settings to JSON. `path` is its position, and
 * `written` its timeout as written in the configuration. Throws ConfigError with the field.
 */
export function checkPluginUse(value: unknown, path: string, written?: unknown): PluginUse {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(path, 'must be { use: module, config: … }');
  const unknown = Object.keys(value).find(key => !FIELDS.includes(key));
  if (unknown !== undefined)
    throw new ConfigError(`${path}.${unknown}`, `unknown field; a plugin has ${FIELDS.join(', ')}`);
  const { use, config, timeout, failurePolicy } = value as { readonly [field: string]: unknown };
  if (typeof use !== 'string' || use === '')
    throw new ConfigError(
      `${path}.use`,
      'must name a package or a path: every thread imports the module, so it cannot be the plugin itself',
    );
  if (timeout !== undefined && !(Number.isInteger(timeout) && inBudget(timeout as number)))
    throw new ConfigError(
      `${path}.timeout`,
      `must be a time from 1ms to ${formatDuration(PLUGIN_CALL_MAX_MS)}, not ${String(written ?? timeout)}`,
    );
  if (failurePolicy !== undefined && !POLICIES.includes(failurePolicy))
    throw new ConfigError(`${path}.failurePolicy`, `must be Fail or Ignore, not ${JSON.stringify(failurePolicy)}`);
  return {
    use,
    ...(config === undefined ? {} : { config: toJson(config, `${path}.config`) }),
    ...(timeout === undefined ? {} : { timeout: timeout as number }),
    ...(failurePolicy === undefined ? {} : { failurePolicy: failurePolicy as FailurePolicy }),
  };
}

const inBudget = (milliseconds: number): boolean => milliseconds >= 1 && milliseconds <= PLUGIN_CALL_MAX_MS;

/**
 * A copy of the settings of a plugin, which are sent to every thread. Throws ConfigError with the path of a value that
 * is not JSON.
 */
function toJson(value: unknown, path: string): Json {
  try {
    // A configuration file cannot contain bigints; only a program could pass them.
    return copyJson(value, path, { bigints: false });
  } catch (error) {
    if (error instanceof NotJson) throw new ConfigError(error.path, error.fix);
    throw error;
  }
}
