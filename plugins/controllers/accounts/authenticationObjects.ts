import { readFileSync } from 'node:fs';
import type { ConfigMap } from '../../../kinds/v1.js';
import { areCertificates } from '../../../core/files/kubeconfigReader.js';
import { ConfigError, controller, type Host, type Plugin } from '../../../core/api/index.js';
import { type DesiredObject, desiredObjects } from '../desiredObjects.js';

/** The keys about authenticating proxies in the ConfigMap for other servers, as texts: PEM, and lists in JSON. */
export type PublishedProxies = Readonly<Record<string, string>>;

/** The content of the ConfigMap. */
export interface AuthenticationObjectsConfig {
  /** The CA bundle that client certificates are verified with, in PEM. */
  readonly clientCa: string;
  /** The proxies whose certificates other servers accept. */
  readonly proxies: PublishedProxies;
  /** Files of settings from which keys have their texts. Those that have changed are published within a minute. */
  readonly files: Readonly<Record<string, string>>;
}

/** The time after which files are read again, in milliseconds. */
const RESYNC_MS = 60_000;

const configMap = ({ naming }: Host<'control'>, name: string, data: ConfigMap['data']): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: naming.component(name), namespace: naming.component('orchestrator-system') },
  data,
});

/** The text of a file of certificates; undefined if it cannot be used now, which the main thread logs. */
function bundleIn(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    return areCertificates(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** How other servers authenticate clients of this one. Further keys belong to other writers. */
function authentication(host: Host<'control'>, config: AuthenticationObjectsConfig): DesiredObject {
  const { clientCa, proxies, files } = config;
  const data: Record<string, string> = { 'client-ca-file': clientCa, ...proxies };
  return {
    storageName: 'core/configmaps',
    get object() {
      return configMap(host, 'extension-apiserver-authentication', { ...data });
    },
    repair: object => {
      const found = object as ConfigMap;
      for (const [key, file] of Object.entries(files)) data[key] = bundleIn(file) ?? data[key]!;
      const isUpToDate = Object.entries(data).every(([key, value]) => found.data?.[key] === value);
      return isUpToDate ? undefined : { ...found, data: { ...found.data, ...data } };
    },
  };
}

/** The date since which uses of legacy tokens have been recorded. */
function tokenTracking(host: Host<'control'>): DesiredObject {
  const data = { since: new Date(host.now()).toISOString().slice(0, 10) };
  return {
    storageName: 'core/configmaps',
    object: configMap(host, 'orchestrator-apiserver-legacy-service-account-token-tracking', data),
    repair: object => {
      const found = object as ConfigMap;
      return /^\d{4}-\d\d-\d\d$/.test(found.data?.['since'] ?? '') ? undefined : { ...found, data };
    },
  };
}

function parse(config: unknown): AuthenticationObjectsConfig {
  const { clientCa, proxies = {}, files = {} } = (config ?? {}) as Partial<AuthenticationObjectsConfig>;
  if (typeof clientCa !== 'string') throw new ConfigError('config.clientCa', 'must be a string of PEM certificates');
  return { clientCa, proxies, files };
}

/** Maintains the ConfigMaps that say how this server authenticates. */
export const authenticationObjects = {
  name: 'controllers/authentication-objects',
  parse,
  contribute: config => [
    controller.of(host =>
      desiredObjects(host, 'authentication-objects', [authentication(host, config), tokenTracking(host)], {
        ...(Object.keys(config.files).length > 0 ? { resync: RESYNC_MS } : {}),
      }),
    ),
  ],
} satisfies Plugin<AuthenticationObjectsConfig>;
