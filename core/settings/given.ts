import { ConfigError } from '../api/point.js';
import { nearest } from '../model/nearest.js';
import type { GivenSettings, Settings } from './settings.js';
import type { Setting } from './setting.js';
import { SETTINGS } from './settingsTable.js';
import { duration } from './values.js';

const camelCase = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The name of a setting in the configuration file: `dataDir` for `--data-dir`. That of `-v` is the setting itself. */
export const fileKeyOf = ({ flag, setting }: { readonly flag: string; readonly setting: string }): string =>
  flag.length === 1 ? setting : camelCase(flag);

/** The settings that have no flag. */
const OTHERS = ['plugins', 'resources'] as const satisfies readonly (keyof Settings)[];

/** The settings by all their names: their own, and their names in the configuration file. */
const BY_NAME: ReadonlyMap<string, keyof Settings> = new Map([
  ...OTHERS.map(name => [name, name] as const),
  ...Object.entries<Setting<unknown>>(SETTINGS).flatMap(([own, { flag }]) => {
    const setting = own as keyof Settings;
    return [fileKeyOf({ flag, setting }), own].map(name => [name, setting] as const);
  }),
]);

/** Advice about an unknown name: the known name that it probably means, or `otherwise`. */
export function adviceFor(given: string, known: Iterable<string>, otherwise: string): string {
  const names = [...known];
  const written = camelCase(given.replace(/^-+/, ''));
  const best = names.includes(written) ? written : nearest(given, names);
  return best === undefined ? otherwise : `did you mean ${best}?`;
}

/** Checks the value of a setting that a program gives. Durations are milliseconds there, and lists may be empty. */
function readValue(setting: keyof Settings, value: unknown, name: string): unknown {
  if (setting === 'plugins' || setting === 'resources') {
    if (Array.isArray(value)) return value;
    throw new ConfigError(name, 'must be a list');
  }
  const { read }: Setting<unknown> = SETTINGS[setting];
  if (read === duration && typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  return Array.isArray(value) && value.length === 0 ? value : read(value, name);
}

/**
 * The settings that a program has given, by their own names. A setting that is undefined counts as absent. Throws
 * ConfigError for an unknown setting, for one that is given by both of its names, and for a value of the wrong type.
 */
export function readGivenSettings(given: GivenSettings): Partial<Settings> {
  const named = new Map<keyof Settings, string>();
  const settings = new Map<keyof Settings, unknown>();
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const setting = BY_NAME.get(name);
    if (setting === undefined)
      throw new ConfigError(
        name,
        `unknown setting; ${adviceFor(name, BY_NAME.keys(), 'they are named like the flags')}`,
      );
    const other = named.get(setting);
    if (other !== undefined) throw new ConfigError(name, `is the same setting as ${other}: omit one of them`);
    named.set(setting, name);
    settings.set(setting, readValue(setting, value, name));
  }
  return Object.fromEntries(settings) as Partial<Settings>;
}
