import type { DefaultedValues, Settings } from '../settings/settings.js';
import { SETTINGS } from '../settings/settingsTable.js';

const defaults = Object.entries(SETTINGS).flatMap(([name, setting]) =>
  'default' in setting ? [[name, setting.default] as const] : [],
);

/** The defaults of all settings that have one. */
export const DEFAULTS: Settings = {
  ...(Object.fromEntries(defaults) as unknown as DefaultedValues),
  plugins: [],
  resources: [],
};
