import {
  type ApiObject,
  ConfigError,
  controller,
  type Frozen,
  type Host,
  type Plugin,
} from '../../../core/api/index.js';
import { type DesiredObject, desiredObjects } from '../desiredObjects.js';

/** Configuration: the CA bundle of the root CA ConfigMap, in PEM. */
export interface NamespaceDefaultsConfig {
  readonly rootCa: string;
}

const serviceAccount: DesiredObject = {
  storageName: 'core/serviceaccounts',
  object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  inEveryNamespace: true,
};

function rootCaConfigMap({ naming }: Host<'control'>, rootCa: string): DesiredObject {
  const product = naming.product.charAt(0).toUpperCase() + naming.product.slice(1);
  const description =
    `Contains a CA bundle that can be used to verify the ${naming.component('orchestrator-apiserver')} when using ` +
    'internal endpoints ' +
    `such as the internal service IP or ${naming.product}.default.svc. ` +
    `No other usage is guaranteed across distributions of ${product} clusters.`;
  const descriptionKey = naming.label('orchestrator.io/description');
  const annotations = { [descriptionKey]: description };
  const data = { 'ca.crt': rootCa };
  const isUpToDate = (found: Frozen<ApiObject>): boolean => {
    const given = (found.data ?? {}) as { [key: string]: string };
    return (
      given['ca.crt'] === rootCa &&
      Object.keys(given).length === 1 &&
      descriptionKey in (found.metadata.annotations ?? {})
    );
  };
  return {
    storageName: 'core/configmaps',
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: naming.component('orchestrator-root-ca.crt'), annotations },
      data,
    },
    inEveryNamespace: true,
    repair: found =>
      isUpToDate(found)
        ? undefined
        : {
            ...found,
            metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } },
            data,
          },
  };
}

function parse(config: unknown): NamespaceDefaultsConfig {
  const rootCa = (config as { rootCa?: unknown } | undefined)?.rootCa ?? '';
  if (typeof rootCa !== 'string') throw new ConfigError('config.rootCa', 'must be a string of PEM certificates');
  return { rootCa };
}

/** Maintains the `default` service account of every namespace. */
export const defaultAccounts = {
  name: 'controllers/default-accounts',
  parse: () => ({}),
  contribute: () => [controller.of(host => desiredObjects(host, 'service-account-controller', [serviceAccount]))],
} satisfies Plugin;

/** Maintains the root CA ConfigMap of every namespace. */
export const rootCaPublisher = {
  name: 'controllers/root-ca-publisher',
  parse,
  contribute: config => [
    controller.of(host => desiredObjects(host, 'root-ca-cert-publisher', [rootCaConfigMap(host, config.rootCa)])),
  ],
} satisfies Plugin<NamespaceDefaultsConfig>;
