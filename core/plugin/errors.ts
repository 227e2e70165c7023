import { ConfigError } from '../api/point.js';

/** Told by its name: a plugin may have a copy of this class, and errors of other threads have lost theirs. */
const isConfigError = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.name === 'ConfigError' && typeof (thrown as ConfigError).path === 'string';

/** Where a plugin's field stands in the configuration: `keys[0]` is `plugins[1].config.keys[0]`. */
function placeOf(field: string, path: string): string {
  if (/^config($|[.[])/.test(field)) return `${path}.${field}`;
  return `${path}.config${field.startsWith('[') ? '' : '.'}${field}`;
}

/**
 * What a plugin threw at start as an error that names the plugin and, where it is about a field, the field's place in
 * the configuration. `path` is the plugin's own place there; absent for the server's own plugins, whose errors are not
 * changed.
 */
export function pluginError(thrown: unknown, name: string, path: string | undefined): Error {
  const { path: field = '', message = String(thrown) } = (thrown ?? {}) as Partial<ConfigError>;
  if (path === undefined && thrown instanceof Error) return thrown;
  if (path === undefined || !isConfigError(thrown)) return new Error(`plugin ${name}: ${message}`, { cause: thrown });
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return new ConfigError(placeOf(field, path), `${text} (plugin ${name})`);
}

/** An error of any thread with the class that it lost on its way from another one. */
export function withClass(error: unknown): unknown {
  if (error instanceof ConfigError || !isConfigError(error)) return error;
  const { path, message } = error as ConfigError;
  return new ConfigError(path, message.slice(path.length + 2));
}
