import { isIP } from 'node:net';
import type { OwnServiceConfig } from '../../plugins/controllers/system/ownService.js';
import { MULTI_CIDR_GATE, ownAddress, type RangeConfig } from '../../plugins/kinds/core/service/ranges.js';
import { ConfigError } from '../api/point.js';
import type { CertificateFiles } from '../services/pki/index.js';
import { aggregationRules } from '../settings/aggregation.js';
import type { Settings } from '../settings/settings.js';
import { webhookServices } from '../settings/webhookServices.js';
import type { PluginSpec } from '../threads/data.js';
import { ACCESS_CHAIN_MS, TOKEN_REVIEW_MS, WRITE_MS } from '../limits.js';
import { addressOf, isLoopbackHost, urlHost } from '../settings/address.js';
import { accessWebhookConfig, chainConfig } from './access/authorization.js';
import { jwtConfig, requestHeaderConfig, tokenWebhookConfig } from './access/authentication.js';
import { admissionPlugins } from './admission/plugins.js';
import { publishedAuthentication } from './access/publishedAuthentication.js';
import { auditPlugins } from './audit.js';
import { signersOf } from './certificateSigning.js';
import type { SignInIssuer } from '../../plugins/console/openId.js';
import { hasConsole } from './access/console.js';
import { isControllerEnabled } from './controllers.js';
import { etcdConfig } from './etcd.js';
import { featuresOf } from './features.js';
import { serviceAccountConfig } from './serviceAccounts.js';

const at = (path: string): string => new URL(`../../plugins/${path}`, import.meta.url).href;

/** The inputs of the built-in plugins that are not settings. */
export interface BuiltinInputs {
  /** The CA that signs the serving certificate, in PEM. */
  readonly rootCa: string;
  /** The CA bundle that client certificates are verified with, in PEM. */
  readonly clientCa: string;
  /** The CA, in PEM, of the certificate with which the server passes requests on to others, unless flags name one. */
  readonly frontProxyCa: string;
  /** The files of that certificate and its key. */
  readonly frontProxy: CertificateFiles;
  /** Files with the server's own CA and its key. */
  readonly caFile: string;
  readonly caKeyFile: string;
  readonly storePath: string;
  /** File with the administrator's token. */
  readonly adminTokens: string;
  /** The digest of the secret of the console's one-time link; absent if there is none. */
  readonly consoleLink?: string | undefined;
  /** The issuer at which people sign in to the console; absent if there is no identity provider. */
  readonly issuer?: SignInIssuer | undefined;
  /** The server's own key for tokens of service accounts. */
  readonly serviceAccountKeyFile: string;
  /** Random: tells this run of the server from others on the same machine. */
  readonly runId: string;
  /** The names of all kinds, which definitions cannot take. */
  readonly takenNames: readonly string[];
  /** Every served group, for their API services. */
  readonly groups: readonly object[];
  /** The versions of every stored kind. */
  readonly storageVersions: readonly object[];
}

const MODES: ReadonlyMap<string, PluginSpec> = new Map<string, PluginSpec>([
  ['Webhook', { use: at('authz/webhook/index.js'), threads: ['front', 'pool'], timeout: TOKEN_REVIEW_MS }],
  ['ABAC', { use: at('authz/abac/index.js'), threads: ['front', 'pool'] }],
  ['Node', { use: at('authz/node/plugin.js'), threads: ['pool'] }],
  ['AlwaysAllow', { use: at('authz/always.js#alwaysAllow'), threads: ['pool'] }],
  ['AlwaysDeny', { use: at('authz/always.js#alwaysDeny'), threads: ['pool'] }],
  ['RBAC', { use: at('authz/rbac/plugin.js'), threads: ['pool'] }],
]);

/**
 * The plugin of an authorization mode. Programs in JavaScript can pass any text. Throws ConfigError for an unknown one.
 */
function modePlugin(mode: string, settings: Settings): PluginSpec {
  const plugin = MODES.get(mode);
  if (!plugin)
    throw new ConfigError(
      'authorizationMode',
      `unknown mode ${JSON.stringify(mode)}; use ${[...MODES.keys()].join(', ')}`,
    );
  if (mode === 'ABAC') return { ...plugin, config: { file: settings.authorizationPolicyFile } };
  return mode === 'Webhook' ? { ...plugin, config: accessWebhookConfig(settings) } : plugin;
}

/** The plugins that authorize requests: those of the authorization file, or of the modes in their order. */
function authorizationPlugins(settings: Settings): readonly PluginSpec[] {
  const config = chainConfig(settings);
  if (!config) return settings.authorizationMode.map(mode => modePlugin(mode, settings));
  return [{ use: at('authz/configured/index.js'), config, threads: ['front', 'pool'], timeout: ACCESS_CHAIN_MS }];
}

/** The port in the Service of a server that listens on a random port. */
const DEFAULT_PORT = 6443;
/** The ranges of Services. */
const serviceRangesOf = ({ serviceClusterIpRange: networks, serviceNodePortRange: ports }: Settings): RangeConfig => ({
  networks,
  ports,
});

/** The plugin of encryption at rest, besides that of the store. */
function encryptionPlugins({ encryptionProviderConfig: file }: Settings): readonly PluginSpec[] {
  return file === undefined ? [] : [{ use: at('health/encryption.js'), config: { file }, threads: ['front'] }];
}

/** Whether all of the feature gates are on. */
function isOn(settings: Settings, ...gates: readonly string[]): boolean {
  const { features } = featuresOf(settings);
  return gates.every(gate => features.includes(gate));
}

/** Whether StorageVersion objects record in which versions servers store objects. */
const hasStorageVersions = (settings: Settings): boolean => isOn(settings, 'StorageVersionAPI', 'APIServerIdentity');

/**
 * Controllers that run in each of the servers that share a store, and tell the others about their server. Only etcd can
 * be shared: with another store, the Lease of a server is useful only to StorageVersions.
 */
function controllersOfEveryServer(
  settings: Settings,
  { runId, storageVersions }: BuiltinInputs,
): readonly PluginSpec[] {
  const spec = (name: string, config: unknown): PluginSpec => ({
    use: at(`kinds/internal/storageVersion/controllers/index.js#${name}`),
    config,
    threads: ['control'],
    everyServer: true,
  });
  const hasVersions = hasStorageVersions(settings);
  const hasLease = hasVersions || (settings.storage === 'etcd' && isOn(settings, 'APIServerIdentity'));
  return [
    ...(hasLease ? [spec('serverIdentity', { runId })] : []),
    ...(hasVersions ? [spec('storageVersions', { resources: storageVersions })] : []),
  ];
}

/** Whether ServiceCIDR objects have the ranges of Services. */
const hasCidrObjects = (settings: Settings): boolean => isOn(settings, MULTI_CIDR_GATE);

/** The console, by default only for this machine. */
function consolePlugins(settings: Settings, { adminTokens, consoleLink, issuer }: BuiltinInputs): PluginSpec[] {
  if (!hasConsole(settings)) return [];
  const config = { adminTokens, linkDigest: consoleLink, issuer };
  return [{ use: at('console/index.js'), config, threads: ['front', 'pool'] }];
}

/** The address of the server for workloads. */
function ownServiceOf(settings: Settings): OwnServiceConfig {
  const { port } = settings;
  const address = addressOf(settings.bindAddress);
  const reachable = address !== undefined && isIP(address) > 0 && !isLoopbackHost(address);
  return {
    clusterIP: ownAddress(serviceRangesOf(settings)),
    port: port || DEFAULT_PORT,
    ...(reachable ? { address } : {}),
  };
}

/** The plugin of a storage backend. */
function storagePlugin(settings: Settings, { storePath: path }: BuiltinInputs): PluginSpec {
  const historyMs = settings.historyRetention;
  const encryption = settings.encryptionProviderConfig;
  switch (settings.storage) {
    case 'etcd':
      return { use: at('storage/etcd/index.js'), config: { ...etcdConfig(settings), encryption }, threads: ['writer'] };
    case 'memory':
      if (encryption !== undefined)
        throw new ConfigError(
          '--encryption-provider-config',
          'is for stores on disk and etcd, not for memory: omit it',
        );
      return { use: at('storage/memory.js'), config: { historyMs }, threads: ['writer'] };
    default:
      return {
        use: at('storage/rocksdb/index.js'),
        config: { path, historyMs, encryption },
        threads: ['writer', 'front'],
      };
  }
}

/** The controllers that `--controllers` selects, by upstream's names: module and configuration of each. */
function controllersOf(settings: Settings, inputs: BuiltinInputs): (readonly [string, string, unknown?])[] {
  const { rootCa, caFile: certFile, caKeyFile: keyFile } = inputs;
  const signing = { signers: signersOf(settings, { certFile, keyFile }), maxMs: settings.clusterSigningDuration };
  const cleanUp = { periodMs: settings.legacyServiceAccountTokenCleanUpPeriod };
  return [
    ['clusterrole-aggregation-controller', 'accounts/rbac.js#roleAggregation'],
    ['serviceaccount-controller', 'system/namespaceDefaults.js#defaultAccounts'],
    ['root-ca-certificate-publisher-controller', 'system/namespaceDefaults.js#rootCaPublisher', { rootCa }],
    ['namespace-controller', 'deletion/namespaces.js#namespaceDeletion'],
    ['persistentvolumeclaim-protection-controller', 'deletion/volumeProtection.js#claimProtection'],
    ['persistentvolume-protection-controller', 'deletion/volumeProtection.js#volumeProtection'],
    ['serviceaccount-token-controller', 'accounts/serviceAccountTokens.js#serviceAccountTokens', { rootCa }],
    ['legacy-serviceaccount-token-cleaner-controller', 'accounts/legacyTokenCleaner.js#legacyTokenCleaner', cleanUp],
    ['certificatesigningrequest-approving-controller', 'certificates/index.js#certificateApproval'],
    ['certificatesigningrequest-signing-controller', 'certificates/index.js#certificateSigning', signing],
    ['certificatesigningrequest-cleaner-controller', 'certificates/index.js#certificateCleaner'],
    ['bootstrap-signer-controller', 'accounts/bootstrapTokens.js#bootstrapSigner'],
    ['token-cleaner-controller', 'accounts/bootstrapTokens.js#tokenCleaner'],
    ['storage-version-migrator-controller', 'definitions/storageMigration.js#storageMigration'],
    ...(hasStorageVersions(settings)
      ? [
          [
            'storageversion-garbage-collector-controller',
            '../kinds/internal/storageVersion/controllers/index.js#storageVersionCollection',
          ] as const,
        ]
      : []),
    ['validatingadmissionpolicy-status-controller', 'policies/policyStatus.js#policyStatus'],
    ...(hasCidrObjects(settings)
      ? [['service-cidr-controller', '../kinds/core/service/controllers/serviceCidrs.js#serviceCidrs'] as const]
      : []),
    ['resourcequota-controller', '../admission/resourceQuota/controller/index.js#resourceQuotas'],
    ['garbage-collector-controller', 'deletion/garbageCollector.js#garbageCollector'],
  ];
}

/**
 * Every plugin of a server, in order. Those of the configuration follow the built-in admission plugins, so that they
 * see the fields these fill in, but not policies and webhooks, which see their changes. They precede the
 * authorization modes, so that they can deny. A storage of the configuration is used instead of the backend of the
 * settings.
 */
export function pluginsOf(settings: Settings, inputs: BuiltinInputs): PluginSpec[] {
  const pool = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['pool'] });
  const control = (path: string, config?: unknown): PluginSpec => ({ use: at(path), config, threads: ['control'] });
  const frontAndPool = (path: string, config: unknown): PluginSpec => ({
    use: at(path),
    config,
    threads: ['front', 'pool'],
  });
  const { groups, takenNames, serviceAccountKeyFile } = inputs;
  const identityProviders = jwtConfig(settings);
  const proxies = requestHeaderConfig(settings);
  const tokenWebhook = tokenWebhookConfig(settings);
  // uws removes bytes above 0x7f from the ends of values, so a user name from a proxy could become another name.
  const required = proxies ? 'node' : settings.listener;
  const host = urlHost(addressOf(settings.bindAddress) ?? 'localhost');
  const published = publishedAuthentication(settings, inputs);
  const accounts = serviceAccountConfig(settings, serviceAccountKeyFile, host);
  const admission = admissionPlugins(settings);
  const hasOwnStorage = settings.plugins.some(({ points }: PluginSpec) => points?.includes('storage'));
  if (hasOwnStorage && settings.encryptionProviderConfig !== undefined)
    throw new ConfigError('--encryption-provider-config', 'is for the built-in stores, not for a plugin: omit it');
  return [
    ...(hasOwnStorage ? [] : [storagePlugin(settings, inputs)]),
    { use: at(`listener/${required ?? 'uws'}.js`), config: { required: required === 'uws' }, threads: ['front'] },
    { use: at('health/basic.js'), threads: ['front'] },
    ...encryptionPlugins(settings),
    ...auditPlugins(settings),
    frontAndPool('kinds/index.js', { serviceRanges: serviceRangesOf(settings) }),
    { use: at('admission/metrics.js'), threads: ['front'] },
    { use: at('conversion/metrics.js'), threads: ['front'] },
    { use: at('authn/metrics.js'), threads: ['front'] },
    { use: at('authz/metrics.js'), threads: ['front'] },
    { use: at('controllers/metrics.js'), threads: ['front'] },
    // Before certificates: a session takes precedence over a certificate that the browser sends by itself.
    ...consolePlugins(settings, inputs),
    pool('authn/staticToken.js', { file: inputs.adminTokens }),
    ...(proxies ? [pool('authn/requestHeader.js', proxies)] : []),
    pool('authn/clientCertificate.js', proxies && { clientCaFile: settings.clientCaFile ?? inputs.caFile }),
    ...(settings.tokenAuthFile ? [pool('authn/staticToken.js', { file: settings.tokenAuthFile })] : []),
    ...(settings.enableBootstrapTokenAuth ? [pool('authn/bootstrapToken.js')] : []),
    // Before service accounts, whose tokens are cached for longer: otherwise both would decode all of these tokens.
    ...(identityProviders ? [frontAndPool('authn/jwt/index.js', identityProviders)] : []),
    { use: at('authn/serviceAccount/index.js'), config: accounts, threads: ['front', 'pool', 'control'] },
    // Before other validators, like the rules of the kinds.
    pool('admission/policies/parameterPermissions.js'),
    ...admission.before,
    pool('authz/systemMasters.js'),
    ...settings.plugins,
    // After authenticators that recognize their own tokens: the webhook is called with every other token, and sees it.
    ...(tokenWebhook ? [{ ...frontAndPool('authn/webhook/index.js', tokenWebhook), timeout: TOKEN_REVIEW_MS }] : []),
    ...admission.behind,
    // Sees the changes of all mutators.
    pool('authz/rbac/plugin.js#roleEscalation'),
    pool('../core/services/webhooks/plugin.js'),
    { ...pool('conversion/webhook.js', { services: webhookServices(settings) }), timeout: WRITE_MS },
    ...authorizationPlugins(settings),
    control('controllers/system/systemNamespaces.js#systemNamespaces'),
    { use: at('controllers/accounts/rbac.js#rbacBootstrap'), threads: ['front', 'control'] },
    control('controllers/system/systemObjects.js#systemObjects', { groups }),
    control('controllers/accounts/authenticationObjects.js#authenticationObjects', published),
    control(
      'controllers/aggregation/availability.js#apiServiceAvailability',
      aggregationRules(settings, inputs.frontProxy),
    ),
    control('controllers/system/ownService.js#ownService', ownServiceOf(settings)),
    ...(hasCidrObjects(settings)
      ? [
          control('kinds/core/service/controllers/serviceCidrs.js#defaultServiceCidr', {
            cidrs: settings.serviceClusterIpRange,
          }),
          control('kinds/core/service/controllers/addressRepair.js#addressRepair'),
        ]
      : []),
    control('kinds/core/service/controllers/rangeReports.js#rangeReports', {
      ranges: serviceRangesOf(settings),
      fromObjects: hasCidrObjects(settings),
    }),
    control('controllers/definitions/customResources.js#customResources', { takenNames }),
    ...controllersOfEveryServer(settings, inputs),
    ...controllersOf(settings, inputs).flatMap(([name, path, config]) =>
      isControllerEnabled(name, settings) ? [control(`controllers/${path}`, config)] : [],
    ),
  ];
}

/** Placeholders for inputs that exist only while a server runs. */
const NO_INPUTS: BuiltinInputs = {
  rootCa: '-',
  clientCa: '-',
  frontProxyCa: '-',
  frontProxy: { cert: '-', key: '-' },
  caFile: '-',
  caKeyFile: '-',
  storePath: '-',
  adminTokens: '-',
  serviceAccountKeyFile: '-',
  runId: '-',
  takenNames: [],
  groups: [],
  storageVersions: [],
};

/**
 * The plugins of a server with these settings and the `plugins` of its configuration, to list or check them without
 * starting a server. The inputs of built-in plugins are placeholders.
 */
export const builtInPlugins = (settings: Settings, plugins: readonly PluginSpec[] = []): PluginSpec[] =>
  pluginsOf({ ...settings, plugins }, NO_INPUTS);
