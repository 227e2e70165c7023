import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { OwnServiceConfig } from '../../plugins/controllers/ownService.js';
import { DEFAULT_RANGES, ownAddress } from '../../plugins/kinds/core/service/allocator.js';
import { ConfigError } from '../api/point.js';
import type { PluginSpec } from '../threads/data.js';
import { etcdConfig } from './etcd.js';
import { serviceAccountConfig } from './serviceAccounts.js';
import type { Settings } from './settings.js';

const at = (path: string): string => new URL(`../../plugins/${path}`, import.meta.url).href;

/** What built-in plugins are configured with beside the settings. */
export interface BuiltinInputs {
  /** The CA that signs the serving certificate, in PEM. */
  readonly rootCa: string;
  readonly storePath: string;
  /** File with the administrator's token. */
  readonly adminTokens: string;
  /** The server's own key for tokens of service accounts. */
  readonly serviceAccountKeyFile: string;
  /** Every stored resource, for the controllers. */
  readonly resources: readonly object[];
  /** Every served group, for their API services. */
  readonly groups: readonly object[];
}

const MODES: ReadonlyMap<string, PluginSpec> = new Map([
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

/** Port of the Service of a server whose own port is picked at random. */
const DEFAULT_PORT = 6443;
const LOOPBACK = /^(127\.|::1$|localhost$)/;
const ANY = new Set(['0.0.0.0', '::']);

/** The address that the server listens on, or the first of this machine if it listens on all of them. */
function addressOf({ bindAddress }: Settings): string | undefined {
  const outer = Object.values(networkInterfaces()).flatMap(all => all ?? []);
  return ANY.has(bindAddress) ? outer.find(one => !one.internal && one.family === 'IPv4')?.address : bindAddress;
}

/** How workloads reach the server. */
function ownServiceOf(settings: Settings): OwnServiceConfig {
  const { port } = settings;
  const address = addressOf(settings);
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

/**
 * Every plugin of a server, in order. Those of the configuration follow the built-in admission plugins, so that they
 * see the fields these fill in, and precede the authorization modes, so that they can deny. A storage of the
 * configuration is used instead of the backend of the settings.
 */
export function pluginsOf(settings: Settings, inputs: BuiltinInputs): PluginSpec[] {
  const request = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['request'] });
  const control = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['control'] });
  const { resources, groups, serviceAccountKeyFile } = inputs;
  const host = `${addressOf(settings) ?? 'localhost'}:${settings.port || DEFAULT_PORT}`;
  const accounts = serviceAccountConfig(settings, serviceAccountKeyFile, host);
  const hasOwnStorage = settings.plugins.some(({ points }: PluginSpec) => points?.includes('storage'));
  return [
    ...(hasOwnStorage ? [] : [storagePlugin(settings, inputs)]),
    { use: at(`listener/${settings.listener ?? 'uws'}.js`), threads: ['front'] },
    { use: at('health/basic.js'), threads: ['front'] },
    { use: at('kinds/index.js'), threads: ['front', 'request'] },
    request('authn/static-token.js', { file: inputs.adminTokens }),
    request('authn/client-certificate.js'),
    ...(settings.tokenAuthFile ? [request('authn/static-token.js', { file: settings.tokenAuthFile })] : []),
    ...(settings.enableBootstrapTokenAuth ? [request('authn/bootstrap-token.js')] : []),
    { use: at('authn/serviceAccount/index.js'), config: accounts, threads: ['front', 'request', 'control'] },
    request('admission/namespace-lifecycle.js'),
    request('admission/taint-new-nodes.js'),
    request('admission/service-account.js'),
    request('admission/priority.js'),
    request('admission/default-toleration-seconds.js'),
    request('admission/runtime-class.js'),
    request('authz/rbac/plugin.js#roleEscalation'),
    request('admission/certificate-permissions.js'),
    request('authz/system-masters.js'),
    ...settings.plugins,
    ...settings.authorizationMode.map(modePlugin),
    control('controllers/systemNamespaces.js#systemNamespaces'),
    control('controllers/rbac.js#rbacBootstrap'),
    control('controllers/systemObjects.js#systemObjects', { groups }),
    control('controllers/rbac.js#roleAggregation'),
    control('controllers/namespaceDefaults.js#namespaceDefaults', { rootCa: inputs.rootCa }),
    control('controllers/ownService.js#ownService', ownServiceOf(settings)),
    control('controllers/namespaces.js#namespaceDeletion', { resources }),
    control('controllers/customResources.js#customResources'),
    control('controllers/volumeProtection.js#volumeProtection'),
    control('controllers/garbageCollector.js#garbageCollector', { resources }),
  ];
}

/** Stands for what is known only while the server runs. */
const NO_INPUTS: BuiltinInputs = {
  rootCa: '-',
  storePath: '-',
  adminTokens: '-',
  serviceAccountKeyFile: '-',
  resources: [],
  groups: [],
};

/**
 * The plugins of a server with these settings, with `plugins` as those of its configuration. For what its own plugins
 * are told of the running server, there are placeholders.
 */
export const builtInPlugins = (settings: Settings, plugins: readonly PluginSpec[] = []): PluginSpec[] =>
  pluginsOf({ ...settings, plugins }, NO_INPUTS);
