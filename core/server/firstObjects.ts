import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../settings/settings.js';
import type { PluginSpec } from '../threads/data.js';
import { DEFAULTS } from './settings.js';

/**
 * Settings that change the first objects of a store, or the requests that write them: with
 * `useServiceAccountCredentials`, some of these need permissions.
 */
const SETTINGS = [
  'admissionControlConfigFile',
  'auditPolicyFile',
  'controllers',
  'disableAdmissionPlugins',
  'emulatedVersion',
  'enableAdmissionPlugins',
  'featureGates',
  'resources',
  'runtimeConfig',
  'useServiceAccountCredentials',
] as const;
/** Points whose plugins see or change written objects. */
const POINTS = ['converter', 'mutator', 'resourceSource', 'resourceType', 'storage', 'validator'];

const isDefault = (settings: Settings, name: (typeof SETTINGS)[number]): boolean =>
  JSON.stringify(settings[name]) === JSON.stringify(DEFAULTS[name]);

/** Whether a plugin of the configuration, which has been checked, neither sees nor changes written objects. */
const writesNothing = ({ points }: PluginSpec): boolean =>
  points !== undefined && !points.some(point => POINTS.includes(point));

/**
 * The file with the first objects of a new store, which the build has made (`scripts/build/firstObjects.mjs`): system
 * namespaces, default roles and the like, as controllers write them with default settings. Undefined if the first
 * objects of this server may differ, or if the build could not make the file: controllers then write them, each by a
 * request.
 */
export function firstObjectsFile(settings: Settings): string | undefined {
  if (!SETTINGS.every(name => isDefault(settings, name))) return undefined;
  if (!settings.plugins.every(writesNothing)) return undefined;
  const file = fileURLToPath(new URL(`firstObjects.${settings.naming}.json`, import.meta.url));
  return existsSync(file) ? file : undefined;
}
