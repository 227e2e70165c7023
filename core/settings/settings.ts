import type { ResourceType } from '../api/resource.js';
import type { PluginUse } from '../plugin/settings.js';
import type { DefaultedSetting, Setting } from './setting.js';
import type { SETTINGS } from './settingsTable.js';

type Table = typeof SETTINGS;
type Defaulted = { [K in keyof Table]: Table[K] extends DefaultedSetting<unknown> ? K : never }[keyof Table];
type ValueOf<S> = S extends Setting<infer T> ? T : never;
/** The settings that a server always has. */
export type DefaultedValues = { readonly [K in Defaulted]: ValueOf<Table[K]> };
type OptionalValues = { readonly [K in Exclude<keyof Table, Defaulted>]?: ValueOf<Table[K]> };

/** A flag in camelCase: `securePort` for `secure-port`. */
type CamelCase<Flag extends string> = Flag extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Flag;
type FlagOf<S> = S extends Setting<unknown, infer Flag> ? Flag : never;

/** Settings of a server with every default filled in. Files are paths as given, durations are in milliseconds. */
export interface Settings extends DefaultedValues, OptionalValues {
  readonly plugins: readonly PluginUse[];
  /** Resource types made with `defineResource`. One with a `validate` function must be contributed by a plugin. */
  readonly resources: readonly ResourceType[];
}

/**
 * Settings as a program gives them: each by its own name, or by that of its flag in camelCase, as in the configuration
 * file. Absent ones have their defaults.
 */
export type GivenSettings = Partial<Settings> & {
  readonly [K in keyof Table as CamelCase<FlagOf<Table[K]>>]?: ValueOf<Table[K]>;
};
