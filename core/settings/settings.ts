import type { ResourceType } from '../api/resource.js';
import type { PluginUse } from '../plugin/settings.js';
import type { DefaultedSetting, Setting, SETTINGS } from './settingsTable.js';

type Table = typeof SETTINGS;
type Defaulted = { [K in keyof Table]: Table[K] extends DefaultedSetting<unknown> ? K : never }[keyof Table];
type ValueOf<S> = S extends Setting<infer T> ? T : never;
/** The settings that a server always has. */
export type DefaultedValues = { readonly [K in Defaulted]: ValueOf<Table[K]> };
type OptionalValues = { readonly [K in Exclude<keyof Table, Defaulted>]?: ValueOf<Table[K]> };

/** Settings of a server with every default filled in. Files are paths as given, durations are in milliseconds. */
export interface Settings extends DefaultedValues, OptionalValues {
  readonly plugins: readonly PluginUse[];
  /** Resource types made with `defineResource`. One with a `validate` function must be contributed by a plugin. */
  readonly resources: readonly ResourceType[];
}
