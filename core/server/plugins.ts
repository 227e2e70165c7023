import { isIP } from 'node:net';
import type { OwnServiceConfig } from '../../plugins/controllers/ownService.js';
import { DEFAULT_RANGES, ownAddress } from '../../plugins/kinds/core/service/allocator.js';
import { ConfigError } from '../api/point.js';
import type { Settings } from '../settings/settings.js';
import type { PluginSpec } from '../threads/data.js';
import { WRITE_MS } from '../limits.js';
import { addressOf, urlHost } from '../settings/address.js';
import { webhookServices } from './admissionConfig.js';
import { admissionPlugins } from './admissionPlugins.js';
import { signersOf } from './certificateSigning.js';
import { isControllerEnabled } from './controllers.js';
import { etcdConfig } from './etcd.js';
import { serviceAccountConfig } from './serviceAccounts.js';

const at = (path: string): string => new URL(`../../plugins/${path}`, import.meta.url).href;

/** The inputs of the built-in plugins that are not settings. */
export interface BuiltinInputs {
  /** The CA that signs the serving certificate, in PEM. */
  readonly rootCa: string;
  /** The CA bundle that client certificates are verified with, in PEM. */
  readonly clientCa: string;
  /** Files with the server's own CA and its key. */
  readonly caFile: string;
  readonly caKeyFile: string;
  readonly storePath: string;
  /** File with the administrator's token. */
  readonly adminTokens: string;
  /** The server's own key for tokens of service accounts. */
  readonly serviceAccountKeyFile: string;
  /** Every stored resource, for the controllers. */
  readonly resources: readonly object[];
  /** The names of all kinds, which definitions cannot take. */
  readonly takenNames: readonly string[];
  /** Every served group, for their API services. */
  readonly groups: readonly object[];
}

const MODES: ReadonlyMap<string, PluginSpec> = new Map([
  ['Node', { use: at('authz/node/plugin.js'), threads: ['request'] }],
  ['AlwaysAllow', { use: at('authz/always.js#alwaysAllow'), threads: ['request'] }],
  ['AlwaysDeny', { use: at('authz/always.js#alwaysDeny'), threads: ['request'] }],
  ['RBAC', { use: at('authz/rbac/plugin.js'), threads: ['request'] }],
]);

/** The plugin of an authorization mode. Programs in JavaScript can name any. Throws ConfigError for an unknown one. */
function modePlugin(mode: string): PluginSpec {
  const plugin = MODES.get(mode);
  if (!plugin)
    throw new ConfigError(
      'authorizationMode',
      `unknown mode ${JSON.stringify(mode)}; use ${[...MODES.keys()].join(', ')}`,
    );
  return plugin;
}

/** The port in the Service of a server that listens on a random port. */
const DEFAULT_PORT = 6443;
const LOOPBACK = /^(127\.|::1$|localhost$)/;
/** The address of the server for workloads. */
function ownServiceOf(settings: Settings): OwnServiceConfig {
  const { port } = settings;
  const address = addressOf(settings.bindAddress);
  const reachable = address !== undefined && isIP(address) > 0 && !LOOPBACK.test(address);
  return { clusterIP: ownAddress(DEFAULT_RANGES), port: port || DEFAULT_PORT, ...(reachable ? { address } : {}) };
}

/** The plugin of a storage backend. */
function storagePlugin(settings: Settings, { storePath: path }: BuiltinInputs): PluginSpec {
  const historyMs = settings.historyRetention;
  switch (settings.storage) {
    case 'etcd':
      return { use: at('storage/etcd/index.js'), config: etcdConfig(settings), threads: ['store'] };
    case 'memory':
      return { use: at('storage/memory.js'), config: { historyMs }, threads: ['store'] };
    default:
      return { use: at('storage/rocksdb/index.js'), config: { path, historyMs }, threads: ['store', 'front'] };
  }
}

/** The controllers that `--controllers` selects, by upstream's names: module and configuration of each. */
function controllersOf(settings: Settings, inputs: BuiltinInputs): (readonly [string, string, unknown?])[] {
  const { rootCa, resources, takenNames, caFile: certFile, caKeyFile: keyFile } = inputs;
  const signing = { signers: signersOf(settings, { certFile, keyFile }), maxMs: settings.clusterSigningDuration };
  const cleanUp = { periodMs: settings.legacyServiceAccountTokenCleanUpPeriod };
  return [
    ['clusterrole-aggregation-controller', 'rbac.js#roleAggregation'],
    ['serviceaccount-controller', 'namespaceDefaults.js#defaultAccounts'],
    ['root-ca-certificate-publisher-controller', 'namespaceDefaults.js#rootCaPublisher', { rootCa }],
    ['namespace-controller', 'namespaces.js#namespaceDeletion', { resources, takenNames }],
    ['persistentvolumeclaim-protection-controller', 'volumeProtection.js#claimProtection'],
    ['persistentvolume-protection-controller', 'volumeProtection.js#volumeProtection'],
    ['serviceaccount-token-controller', 'serviceAccountTokens.js#serviceAccountTokens', { rootCa }],
    ['legacy-serviceaccount-token-cleaner-controller', 'legacyTokenCleaner.js#legacyTokenCleaner', cleanUp],
    ['certificatesigningrequest-approving-controller', 'certificates/index.js#certificateApproval'],
    ['certificatesigningrequest-signing-controller', 'certificates/index.js#certificateSigning', signing],
    ['certificatesigningrequest-cleaner-controller', 'certificates/index.js#certificateCleaner'],
    ['bootstrap-signer-controller', 'bootstrapTokens.js#bootstrapSigner'],
    ['token-cleaner-controller', 'bootstrapTokens.js#tokenCleaner'],
    ['storage-version-migrator-controller', 'storageMigration.js#storageMigration', { resources, takenNames }],
    ['validatingadmissionpolicy-status-controller', 'policyStatus.js#policyStatus'],
    ['garbage-collector-controller', 'garbageCollector.js#garbageCollector', { resources, takenNames }],
  ];
}

/**
 * Every plugin of a server, in order. Those of the configuration follow the built-in admission plugins, so that they
 * see the fields these fill in, but not policies and webhooks, which see what they have changed. They precede the
 * authorization modes, so that they can deny. A storage of the configuration is used instead of the backend of the
 * settings.
 */
export function pluginsOf(settings: Settings, inputs: BuiltinInputs): PluginSpec[] {
  const request = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['request'] });
  const control = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['control'] });
  const { groups, resources, takenNames, serviceAccountKeyFile } = inputs;
  const { listener: required } = settings;
  const host = urlHost(addressOf(settings.bindAddress) ?? 'localhost');
  const accounts = serviceAccountConfig(settings, serviceAccountKeyFile, host);
  const admission = admissionPlugins(settings);
  const hasOwnStorage = settings.plugins.some(({ points }: PluginSpec) => points?.includes('storage'));
  return [
    ...(hasOwnStorage ? [] : [storagePlugin(settings, inputs)]),
    { use: at(`listener/${required ?? 'uws'}.js`), config: { required: required === 'uws' }, threads: ['front'] },
    { use: at('health/basic.js'), threads: ['front'] },
    { use: at('kinds/index.js'), threads: ['front', 'request'] },
    { use: at('admission/metrics.js'), threads: ['front'] },
    { use: at('conversion/metrics.js'), threads: ['front'] },
    request('authn/static-token.js', { file: inputs.adminTokens }),
    request('authn/client-certificate.js'),
    ...(settings.tokenAuthFile ? [request('authn/static-token.js', { file: settings.tokenAuthFile })] : []),
    ...(settings.enableBootstrapTokenAuth ? [request('authn/bootstrap-token.js')] : []),
    { use: at('authn/serviceAccount/index.js'), config: accounts, threads: ['front', 'request', 'control'] },
    // Before other validators, as the rules of the kinds are.
    request('admission/policies/parameterPermissions.js'),
    ...admission.before,
    request('authz/system-masters.js'),
    ...settings.plugins,
    ...admission.behind,
    // Sees what all mutators have changed.
    request('authz/rbac/plugin.js#roleEscalation'),
    request('webhooks/index.js'),
    { ...request('conversion/webhook.js', { services: webhookServices(settings) }), timeout: WRITE_MS },
    ...settings.authorizationMode.map(modePlugin),
    control('controllers/systemNamespaces.js#systemNamespaces'),
    { use: at('controllers/rbac.js#rbacBootstrap'), threads: ['front', 'control'] },
    control('controllers/systemObjects.js#systemObjects', { groups }),
    control('controllers/authenticationObjects.js#authenticationObjects', { clientCa: inputs.clientCa }),
    control('controllers/ownService.js#ownService', ownServiceOf(settings)),
    control('controllers/customResources.js#customResources', { resources, takenNames }),
    ...controllersOf(settings, inputs).flatMap(([name, path, config]) =>
      isControllerEnabled(name, settings) ? [control(`controllers/${path}`, config)] : [],
    ),
  ];
}

/** Placeholders for inputs that exist only while a server runs. */
const NO_INPUTS: BuiltinInputs = {
  rootCa: '-',
  clientCa: '-',
  caFile: '-',
  caKeyFile: '-',
  storePath: '-',
  adminTokens: '-',
  serviceAccountKeyFile: '-',
  resources: [],
  takenNames: [],
  groups: [],
};

/**
 * The plugins of a server with these settings and the `plugins` of its configuration, to list or check them without
 * starting a server. The inputs of built-in plugins are placeholders.
 */
export const builtInPlugins = (settings: Settings, plugins: readonly PluginSpec[] = []): PluginSpec[] =>
  pluginsOf({ ...settings, plugins }, NO_INPUTS);
