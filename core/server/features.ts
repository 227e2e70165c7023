import { featureGates } from '../features/gates.js';
import { namingOf } from '../naming.js';
import { enablement } from '../schema/registry/enablement.js';
import type { Settings } from '../settings/settings.js';
import type { ThreadData } from '../threads/data.js';
import { admissionWarnings, checkAdmissionPlugins } from './admissionPlugins.js';

const gatesOf = ({ featureGates: given, naming }: Settings) => featureGates(given, namingOf(naming).short);

/** The feature gates that are on, and what is served. Throws ConfigError. */
export const featuresOf = (settings: Settings): Pick<ThreadData, 'features' | 'enablement'> => ({
  features: gatesOf(settings).enabled,
  enablement: enablement(settings.runtimeConfig, namingOf(settings.naming)),
});

/** Checks the settings of gates, served APIs and admission plugins. Throws ConfigError, which names the flag. */
export function checkFeatures(settings: Settings): Settings {
  featuresOf(settings);
  checkAdmissionPlugins(settings);
  return settings;
}

/** Warnings about these settings, which are logged at the start. */
export const featureWarnings = (settings: Settings): readonly string[] => [
  ...gatesOf(settings).warnings,
  ...admissionWarnings(settings),
];
