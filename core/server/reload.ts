import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../settings/settings.js';
import type { PluginSpec } from '../threads/data.js';
import { KEPT_POINTS } from '../../workers/front/frontPlugins.js';

/** The settings that affect only plugins, including the server's own ones. They can change while it runs. */
const LIVE: ReadonlySet<string> = new Set([
  'plugins',
  'tokenAuthFile',
  'enableBootstrapTokenAuth',
  'anonymousAuth',
  'authenticationConfig',
  'oidcIssuerUrl',
  'oidcClientId',
  'oidcUsernameClaim',
  'oidcUsernamePrefix',
  'oidcGroupsClaim',
  'oidcGroupsPrefix',
  'oidcRequiredClaim',
  'oidcCaFile',
  'oidcSigningAlgs',
  'authenticationTokenWebhookConfigFile',
  'authenticationTokenWebhookVersion',
  'authenticationTokenWebhookCacheTtl',
  'authorizationMode',
  'authorizationPolicyFile',
  'authorizationWebhookConfigFile',
  'authorizationWebhookVersion',
  'authorizationWebhookCacheAuthorizedTtl',
  'authorizationWebhookCacheUnauthorizedTtl',
  'enableAdmissionPlugins',
  'disableAdmissionPlugins',
  'admissionControlConfigFile',
  'webhookResolve',
  'controllers',
] satisfies (keyof Settings)[]);

/**
 * Divides the changes from one set of settings to another: `live` are the current settings with the changes that can be
 * applied while the server runs; `kept` are the names of the other settings that differ.
 */
export function divideSettings(current: Settings, wanted: Settings): { live: Settings; kept: readonly string[] } {
  const fixed = Object.keys({ ...current, ...wanted }).filter(name => !LIVE.has(name)) as (keyof Settings)[];
  const kept = fixed.filter(name => !isDeepStrictEqual(current[name], wanted[name]));
  const values = fixed.map(name => [name, current[name]] as const);
  return { live: { ...wanted, ...(Object.fromEntries(values) as Partial<Settings>) }, kept };
}

/** The positions (`plugins[1]`) of plugins whose parts the server keeps even though they may have changed. */
export function unreplaceablePlugins(current: readonly PluginSpec[], wanted: readonly PluginSpec[]): string[] {
  const positions = [...current, ...wanted]
    .filter(({ points = [] }) => points.some(point => KEPT_POINTS.includes(point)))
    .map(({ path = 'plugins' }) => path);
  return [...new Set(positions)];
}
