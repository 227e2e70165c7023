import { ConfigError, type Plugin } from '../../api/point.js';
import { API_VERSION } from '../../api/plugin/version.js';

/** Parses `major.minor`; undefined if it is malformed. */
function numbersOf(version: unknown): readonly [major: number, minor: number] | undefined {
  const match = typeof version === 'string' ? /^(\d{1,6})\.(\d{1,6})$/.exec(version) : null;
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

/**
 * Refuses a plugin that needs another version of the interface than this server has. A plugin without a version is
 * accepted. `path` is its position in the configuration. Throws ConfigError with the fix.
 */
export function checkApiVersion({ name, apiVersion }: Plugin, path: string, own = API_VERSION): void {
  if (apiVersion === undefined) return;
  const needed = numbersOf(apiVersion);
  const [major, minor] = numbersOf(own)!;
  if (!needed)
    throw new ConfigError(`${path}.use`, `the plugin ${name} must have an apiVersion like "${own}", or omit it`);
  if (needed[0] === major && needed[1] <= minor) return;
  const fix =
    needed[0] < major
      ? `install a release of the plugin for version ${major}`
      : `install a newer Capstan, or a release of the plugin for version ${own}`;
  throw new ConfigError(
    `${path}.use`,
    `the plugin ${name} needs version ${apiVersion} of capstan/api, and this server has ${own}: ${fix}`,
  );
}
