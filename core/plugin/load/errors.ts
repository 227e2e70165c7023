import { ConfigError } from '../../api/point.js';
import { messagesOf } from '../calls/stack.js';

/**
 * Compares the name: a plugin may have its own copy of the class, and errors from other threads have lost their class.
 */
const isConfigError = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.name === 'ConfigError' && typeof (thrown as ConfigError).path === 'string';

/** The name of errors that plugins throw at the start, also in other threads. */
export const PLUGIN_ERROR = 'PluginError';

/** The position of a plugin's field in the configuration: `keys[0]` is `plugins[1].config.keys[0]`. */
function placeOf(field: string, path: string): string {
  if (/^config($|[.[])/.test(field)) return `${path}.${field}`;
  return `${path}.config${field.startsWith('[') ? '' : '.'}${field}`;
}

/**
 * Adds to an error that a plugin threw at the start the name of the plugin, the extension point for which it was
 * creating a part, and the messages of the causes. For an error of a field, it adds the position of the field in the
 * configuration. `path` is the position of the plugin; it is absent for built-in plugins, whose errors are not changed.
 */
export function pluginError(thrown: unknown, name: string, path: string | undefined, point?: string): Error {
  if (path === undefined && thrown instanceof Error) return thrown;
  if (path === undefined || !isConfigError(thrown)) {
    const where = point === undefined ? name : `${name} (${point})`;
    const error = new Error(`plugin ${where}: ${messagesOf(thrown)}`, { cause: thrown });
    error.name = PLUGIN_ERROR;
    return error;
  }
  const { path: field, message } = thrown as ConfigError;
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return new ConfigError(placeOf(field, path), `${text} (plugin ${name})`, { cause: (thrown as Error).cause });
}

/** Restores the class of an error from another thread. */
export function withClass(error: unknown): unknown {
  if (error instanceof ConfigError || !isConfigError(error)) return error;
  const { path, message, cause } = error as ConfigError;
  return new ConfigError(path, message.slice(path.length + 2), { cause });
}
