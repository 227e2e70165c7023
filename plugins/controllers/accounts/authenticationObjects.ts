import type { ConfigMap } from '../../../kinds/v1.js';
import { ConfigError, controller, type Host, type Plugin } from '../../../core/api/index.js';
import { type DesiredObject, desiredObjects } from '../desiredObjects.js';

/** Configuration: the CA bundle that client certificates are verified with, in PEM. */
export interface AuthenticationObjectsConfig {
  readonly clientCa: string;
}

const configMap = ({ naming }: Host<'control'>, name: string, data: ConfigMap['data']): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: naming.component(name), namespace: naming.component('orchestrator-system') },
  data,
});

/** How other servers authenticate clients of this one. Further keys are those of other writers. */
function authentication(host: Host<'control'>, clientCa: string): DesiredObject {
  const data = { 'client-ca-file': clientCa };
  return {
    storageName: 'core/configmaps',
    object: configMap(host, 'extension-apiserver-authentication', data),
    repair: object => {
      const found = object as ConfigMap;
      return found.data?.['client-ca-file'] === clientCa ? undefined : { ...found, data: { ...found.data, ...data } };
    },
  };
}

/** Since when uses of legacy tokens have been recorded. */
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
  const { clientCa } = (config ?? {}) as Partial<AuthenticationObjectsConfig>;
  if (typeof clientCa !== 'string') throw new ConfigError('config.clientCa', 'must be a string of PEM certificates');
  return { clientCa };
}

/** Maintains the ConfigMaps that say how this server authenticates. */
export const authenticationObjects = {
  name: 'controllers/authentication-objects',
  parse,
  contribute: ({ clientCa }) => [
    controller.of(host =>
      desiredObjects(host, 'authentication-objects', [authentication(host, clientCa), tokenTracking(host)]),
    ),
  ],
} satisfies Plugin<AuthenticationObjectsConfig>;
