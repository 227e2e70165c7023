import { MULTI_CIDR_GATE } from '../../plugins/kinds/core/service/ranges.js';
import { ConfigError } from '../api/point.js';
import { emulatedMinor } from '../features/emulation.js';
import { featureGates } from '../features/gates.js';
import { namingOf } from '../naming.js';
import { type Enablement, enablement } from '../schema/registry/enablement.js';
import type { Settings } from '../settings/settings.js';
import type { ThreadData } from '../threads/data.js';
import { admissionWarnings, checkAdmissionPlugins } from './admission/plugins.js';

/** The version with the kinds that the gate needs, in neutral names. */
const CIDR_VERSION = 'networking.orchestrator.io/v1beta1';
const CIDR_RESOURCES = ['servicecidrs', 'ipaddresses'];

const servesCidrs = ({ versions, resources }: Enablement): boolean =>
  CIDR_RESOURCES.every(plural => resources[`${CIDR_VERSION}/${plural}`] ?? versions[CIDR_VERSION]);

/** The feature gates that are on, and the versions that are served. Throws ConfigError. */
export const featuresOf = (settings: Settings): Pick<ThreadData, 'features' | 'enablement'> => ({
  features: featureGates(settings).enabled,
  enablement: enablementOf(settings),
});

function enablementOf({ runtimeConfig, naming: name, emulatedVersion }: Settings): Enablement {
  const naming = namingOf(name);
  return enablement(runtimeConfig, naming, emulatedMinor(emulatedVersion, naming.short));
}

/** Checks the settings of gates, served APIs and admission plugins. Throws ConfigError, which names the flag. */
export function checkFeatures(settings: Settings): Settings {
  const { features, enablement: given } = featuresOf(settings);
  if (features.includes(MULTI_CIDR_GATE) && !servesCidrs(given)) {
    const version = namingOf(settings.naming).apiVersion(CIDR_VERSION);
    const fix = `add --runtime-config=${version}=true, or ${MULTI_CIDR_GATE}=false`;
    throw new ConfigError('--feature-gates', `${MULTI_CIDR_GATE} needs ServiceCIDRs, which are not served: ${fix}`);
  }
  checkAdmissionPlugins(settings);
  return settings;
}

/** Warnings about these settings, which are logged at the start. */
export const featureWarnings = (settings: Settings): readonly string[] => [
  ...featureGates(settings).warnings,
  ...admissionWarnings(settings),
];
