import { ConfigError } from '../api/point.js';
import { HISTORY_MS, LISTENING_THREADS } from '../limits.js';
import { AUDIT_SETTINGS } from './auditSettings.js';
import { RELEASE } from '../release.js';
import { networks, portRange } from './serviceRanges.js';
import { defaulted, file, optional, switchedOff, switchedOn } from './setting.js';
import { anyText, duration, flag, integer, listOf, names, oneOf, pairs, port, type Reader, text } from './values.js';

/** The authorization modes. */
const AUTHORIZATION_MODES = ['Node', 'RBAC', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;
/** An authorization mode. */
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

const year = 365 * 24 * 3_600_000;

/** The version of reviews that are sent to webhooks, which may be given with its group. */
const reviewVersion: Reader<'v1' | 'v1beta1'> = (value, path) =>
  oneOf(['v1', 'v1beta1'] as const)(
    typeof value === 'string' ? value.replace(/^auth(?:entic|oriz)ation\.(?:orchestrator|k8s)\.io\//, '') : value,
    path,
  );

const PREVIOUS_RELEASE = `${RELEASE.major}.${Number(RELEASE.minor) - 1}`;

/** The previous release, or an empty text. */
const previousRelease: Reader<string> = (value, path) => {
  if (value === '' || value === PREVIOUS_RELEASE) return value;
  throw new ConfigError(path, `must be ${PREVIOUS_RELEASE}, the release before this one, or be omitted`);
};

/** The name of a store. Upstream names its own after a version of etcd's protocol. */
const storeName: Reader<'rocksdb' | 'memory' | 'etcd'> = (value, path) =>
  value === 'etcd3' ? 'etcd' : oneOf(['rocksdb', 'memory', 'etcd'] as const)(value, path);

/** The CA of one signer. */
const signerCert = <Signer extends string>(signer: Signer, issued: string) =>
  file(`cluster-signing-${signer}-cert-file`, `CA certificate that issues ${issued}, in PEM`);
const signerKey = <Signer extends string>(signer: Signer) =>
  file(`cluster-signing-${signer}-key-file`, 'its private key');

/**
 * All settings that have a flag, by their names in the library, in the order of the help. Everything else about them is
 * derived: the type `Settings`, the flags, the configuration file, the help, the completions and the reference page.
 */
export const SETTINGS = {
  dataDir: defaulted('data-dir', 'DIR', text, './.capstan', 'directory of all data'),
  bindAddress: defaulted('bind-address', 'ADDRESS', text, '127.0.0.1', 'address to listen on'),
  /** Port of HTTPS; 0 picks a free one. */
  port: defaulted('secure-port', 'PORT', port, 6443, 'HTTPS port, 0 picks a free one'),
  /** Port of plain HTTP on the loopback address; 0 picks a free one. Absent: no plain HTTP. */
  httpPort: optional('http-port', 'PORT', port, 'plain HTTP port on loopback addresses', 'off'),
  /** Absent: true on loopback addresses. */
  console: optional('console', 'BOOL', flag, 'serve the console at /console/', 'true on loopback addresses'),
  naming: defaulted('naming', 'NAMES', oneOf(['neutral', 'kubernetes'] as const), 'neutral', 'neutral or kubernetes'),
  /** Both or neither. Absent: the server makes its own certificate. */
  tlsCertFile: file('tls-cert-file', 'serving certificate', 'made by the server'),
  tlsPrivateKeyFile: file('tls-private-key-file', 'its private key'),
  /** Further names of the server's own certificate. */
  tlsSan: defaulted('tls-san', 'NAME', listOf(text), [], "further name of the server's own certificate; repeatable"),
  clientCaFile: file('client-ca-file', 'CA bundle for client certificates'),
  tokenAuthFile: file('token-auth-file', 'static tokens: token,user,uid,"group,…"'),
  /** Accepts bootstrap tokens. */
  enableBootstrapTokenAuth: switchedOff('enable-bootstrap-token-auth', 'accept bootstrap tokens, by which nodes join'),
  /** Absent: true, unless the authentication file says otherwise. */
  anonymousAuth: optional('anonymous-auth', 'BOOL', flag, 'accept requests without credentials', 'true'),
  /** An AuthenticationConfiguration (v1beta1 or v1alpha1). It is read again when it changes. */
  authenticationConfig: file('authentication-config', 'issuers of tokens, and anonymous access; not with --oidc-*'),
  /** With `oidcClientId`: accepts the id tokens of this provider. */
  oidcIssuerUrl: optional('oidc-issuer-url', 'URL', text, 'OpenID Connect provider whose id tokens are accepted'),
  oidcClientId: optional('oidc-client-id', 'ID', text, 'client that these tokens must be for'),
  oidcUsernameClaim: optional('oidc-username-claim', 'CLAIM', text, 'claim with the user name', 'sub'),
  /** `-` stands for none. Absent: the issuer and `#`, and none for the claim `email`. */
  oidcUsernamePrefix: optional(
    'oidc-username-prefix',
    'PREFIX',
    anyText,
    'prefix of user names, - for none',
    'the issuer and #, none for the claim email',
  ),
  oidcGroupsClaim: optional('oidc-groups-claim', 'CLAIM', text, 'claim with the groups'),
  oidcGroupsPrefix: optional('oidc-groups-prefix', 'PREFIX', anyText, 'prefix of groups', 'none'),
  /** Each as `claim=value`. */
  oidcRequiredClaim: optional(
    'oidc-required-claim',
    'CLAIM=VALUE',
    listOf(text),
    'claim that a token must have; repeatable',
  ),
  oidcCaFile: file('oidc-ca-file', 'CA bundle for the provider', 'those of the host'),
  oidcSigningAlgs: optional(
    'oidc-signing-algs',
    'ALGS',
    listOf(text),
    'algorithms of signatures, with commas',
    'RS256',
  ),
  /** A kubeconfig with the server to which TokenReviews are sent. */
  authenticationTokenWebhookConfigFile: file(
    'authentication-token-webhook-config-file',
    'kubeconfig of a webhook that reviews bearer tokens',
  ),
  authenticationTokenWebhookVersion: defaulted(
    'authentication-token-webhook-version',
    'VERSION',
    reviewVersion,
    'v1beta1',
    'version of its TokenReviews: v1beta1 or v1',
  ),
  authenticationTokenWebhookCacheTtl: defaulted(
    'authentication-token-webhook-cache-ttl',
    'TIME',
    duration,
    120_000,
    'how long its answers are used again, 0 for never',
  ),
  /** With `requestheaderUsernameHeaders`: accepts users named by a proxy with a certificate of these CAs. */
  requestheaderClientCaFile: file(
    'requestheader-client-ca-file',
    'CA bundle for certificates of authenticating proxies',
  ),
  requestheaderAllowedNames: optional(
    'requestheader-allowed-names',
    'NAMES',
    names,
    'common names of these certificates, with commas',
    'any',
  ),
  requestheaderUsernameHeaders: optional(
    'requestheader-username-headers',
    'HEADERS',
    names,
    'headers with the user name; the first one that is sent counts',
  ),
  /** Needs the feature gate RemoteRequestHeaderUID. */
  requestheaderUidHeaders: optional('requestheader-uid-headers', 'HEADERS', names, 'headers with the uid of the user'),
  requestheaderGroupHeaders: optional(
    'requestheader-group-headers',
    'HEADERS',
    names,
    'headers with groups of the user; all of them count',
  ),
  requestheaderExtraHeadersPrefix: optional(
    'requestheader-extra-headers-prefix',
    'PREFIXES',
    names,
    'beginnings of headers with further attributes of the user',
  ),
  authorizationMode: defaulted(
    'authorization-mode',
    'MODES',
    listOf(oneOf(AUTHORIZATION_MODES)),
    ['RBAC'],
    'Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny, with commas',
  ),
  /** Excludes `authorizationMode` and the settings of its webhook. */
  authorizationConfig: file('authorization-config', 'file with the authorizers, instead of modes'),
  authorizationPolicyFile: file('authorization-policy-file', 'policies of mode ABAC, one JSON object on each line'),
  /** Kubeconfig of the webhook of mode Webhook. */
  authorizationWebhookConfigFile: file(
    'authorization-webhook-config-file',
    'kubeconfig of the webhook of mode Webhook',
  ),
  authorizationWebhookVersion: defaulted(
    'authorization-webhook-version',
    'VERSION',
    reviewVersion,
    'v1beta1',
    'version of its SubjectAccessReviews: v1beta1 or v1',
  ),
  authorizationWebhookCacheAuthorizedTtl: defaulted(
    'authorization-webhook-cache-authorized-ttl',
    'TIME',
    duration,
    300_000,
    'how long its answers that allow are used again, 0 for never',
  ),
  authorizationWebhookCacheUnauthorizedTtl: defaulted(
    'authorization-webhook-cache-unauthorized-ttl',
    'TIME',
    duration,
    30_000,
    'how long its other answers are used again, 0 for never',
  ),
  /** Admission plugins, by upstream's names, in addition to those that are on by default. */
  enableAdmissionPlugins: defaulted(
    'enable-admission-plugins',
    'NAMES',
    names,
    [],
    'admission plugins beside those that are on by default, with commas',
  ),
  disableAdmissionPlugins: defaulted(
    'disable-admission-plugins',
    'NAMES',
    names,
    [],
    'admission plugins that are on by default, with commas',
  ),
  /** An AdmissionConfiguration (v1) with the configuration of admission plugins. */
  admissionControlConfigFile: file(
    'admission-control-config-file',
    'AdmissionConfiguration: the configuration of admission plugins',
  ),
  /** With `proxyClientKeyFile`. */
  proxyClientCertFile: file(
    'proxy-client-cert-file',
    'client certificate for the servers of APIServices, which trust the users it names',
  ),
  proxyClientKeyFile: file('proxy-client-key-file', 'its private key'),
  enableAggregatorRouting: switchedOff(
    'enable-aggregator-routing',
    'pass requests for APIServices on to an endpoint of the service instead of its cluster IP',
  ),
  aggregatorRejectForwardingRedirect: switchedOn(
    'aggregator-reject-forwarding-redirect',
    'answer with 502 where the server of an APIService redirects the client',
  ),
  /** URLs of services of webhooks and APIServices, each as `namespace/name=url` or `namespace/name:port=url`. */
  webhookResolve: defaulted(
    'webhook-resolve',
    'SERVICE=URL',
    names,
    [],
    'where the service NAMESPACE/NAME of webhooks and APIServices is: https://HOST:PORT',
  ),
  /** Feature gates that are set, each as `name=true` or `name=false`. */
  featureGates: defaulted(
    'feature-gates',
    'GATES',
    pairs,
    [],
    'feature gates that are not as in the release: name=BOOL, with commas',
  ),
  /** Versions and resources that are set, each as `key=true`, `key=false` or `key`. */
  runtimeConfig: defaulted(
    'runtime-config',
    'APIS',
    pairs,
    [],
    'APIs that are not served as in the release: group/version[/resource]=BOOL, with commas',
  ),
  /** The release whose feature gates and APIs the server has, as `1.31` or with the component before `=`. */
  emulatedVersion: defaulted(
    'emulated-version',
    'VERSION',
    names,
    [],
    'release whose feature gates and APIs the server has: 1.31 or 1.32',
  ),
  /** One network, or an IPv4 and an IPv6 network. The first is for Services that name no family. */
  serviceClusterIpRange: defaulted(
    'service-cluster-ip-range',
    'CIDRS',
    networks,
    ['10.0.0.0/16'],
    'networks of which Services get addresses: one, or one for each family, the default family first',
  ),
  serviceNodePortRange: defaulted(
    'service-node-port-range',
    'PORTS',
    portRange,
    [30000, 32767],
    'first and last node port of Services, such as 30000-32767',
  ),
  /** The first is the issuer of new tokens of service accounts; those of the others are accepted. Absent: its own. */
  serviceAccountIssuer: optional(
    'service-account-issuer',
    'URL',
    listOf(text),
    'issuer of service account tokens; further ones are accepted; repeatable',
  ),
  /** Files with the keys that verify such tokens. Absent: the signing key, and that of the certificate. */
  serviceAccountKeyFile: optional(
    'service-account-key-file',
    'FILE',
    listOf(text),
    'keys that verify service account tokens, in PEM; repeatable',
    'the signing key',
  ),
  /** Absent: the server makes its own key. */
  serviceAccountSigningKeyFile: file(
    'service-account-signing-key-file',
    'key that signs service account tokens, in PEM',
    'made by the server',
  ),
  /** Longest lifetime of new tokens; absent: no limit. */
  serviceAccountMaxTokenExpiration: optional(
    'service-account-max-token-expiration',
    'TIME',
    duration,
    'longest lifetime of service account tokens, at least 1h',
    'no limit',
  ),
  serviceAccountExtendTokenExpiration: switchedOn(
    'service-account-extend-token-expiration',
    'let tokens of pods live for a year, for programs that read them once',
  ),
  /** The URL of the keys in the discovery document of the issuer; absent: on this server. */
  serviceAccountJwksUri: optional(
    'service-account-jwks-uri',
    'URL',
    text,
    'where others get the keys of service account tokens',
    'this server',
  ),
  serviceAccountLookup: switchedOn(
    'service-account-lookup',
    'accept tokens of secrets only while secret and account exist',
  ),
  /** Audiences of the server; absent: the issuers. */
  apiAudiences: optional(
    'api-audiences',
    'NAMES',
    listOf(text),
    'audiences of service account tokens for this server',
    'the issuers',
  ),
  /** How long a legacy token that the server created may be unused before it is removed. */
  legacyServiceAccountTokenCleanUpPeriod: defaulted(
    'legacy-service-account-token-clean-up-period',
    'TIME',
    duration,
    year,
    'how long legacy tokens of service accounts may be unused before they end',
  ),
  /** Names of controllers, `-name` and `*`. Absent: `*`, and with bootstrap tokens those that manage them. */
  controllers: optional(
    'controllers',
    'NAMES',
    listOf(text),
    'controllers to run: *, name, -name',
    '*, and with bootstrap tokens those for them',
  ),
  /** Controllers have only the permissions of their own roles. */
  useServiceAccountCredentials: switchedOff(
    'use-service-account-credentials',
    'run each controller with the permissions of its own role alone',
  ),
  /** CA that issues certificates for all standard signers; both or neither. Absent: the server's own CA. */
  clusterSigningCertFile: file(
    'cluster-signing-cert-file',
    'CA certificate that issues certificates for all signers, in PEM',
    "the server's own CA",
  ),
  clusterSigningKeyFile: file('cluster-signing-key-file', 'its private key'),
  /** Longest lifetime of the issued certificates. */
  clusterSigningDuration: defaulted(
    'cluster-signing-duration',
    'TIME',
    duration,
    year,
    'longest lifetime of issued certificates',
  ),
  /** CAs of single signers; both or neither, and not together with a CA for all signers. */
  clusterSigningApiserverClientCertFile: signerCert('kube-apiserver-client', 'client certificates'),
  clusterSigningApiserverClientKeyFile: signerKey('kube-apiserver-client'),
  clusterSigningNodeClientCertFile: signerCert('kubelet-client', 'client certificates of nodes'),
  clusterSigningNodeClientKeyFile: signerKey('kubelet-client'),
  clusterSigningNodeServingCertFile: signerCert('kubelet-serving', 'serving certificates of nodes'),
  clusterSigningNodeServingKeyFile: signerKey('kubelet-serving'),
  clusterSigningLegacyUnknownCertFile: signerCert('legacy-unknown', 'certificates of the legacy signer'),
  clusterSigningLegacyUnknownKeyFile: signerKey('legacy-unknown'),
  ...AUDIT_SETTINGS,
  storage: defaulted('storage-backend', 'STORE', storeName, 'rocksdb', 'rocksdb, memory or etcd (also etcd3)'),
  /** An EncryptionConfiguration (v1). It is read again when it changes. Not for the memory backend. */
  encryptionProviderConfig: file(
    'encryption-provider-config',
    'how values of which resources are encrypted in the store',
  ),
  /** URLs of the etcd servers. Required with the etcd backend; like all settings of etcd, allowed only with it. */
  etcdServers: optional('etcd-servers', 'URLS', listOf(text), 'etcd servers, with commas'),
  /** Prefix of every key. Absent: `/registry`. */
  etcdPrefix: optional('etcd-prefix', 'PREFIX', text, 'prefix of all keys in etcd', '/registry'),
  etcdCafile: file('etcd-cafile', 'CA bundle for the certificates of etcd'),
  /** Both or neither. */
  etcdCertfile: file('etcd-certfile', 'client certificate for etcd'),
  etcdKeyfile: file('etcd-keyfile', 'its private key'),
  /** Both or neither; for an etcd with authentication. */
  etcdUser: optional('etcd-user', 'NAME', text, 'user of an etcd with authentication'),
  etcdPasswordFile: file('etcd-password-file', 'holds the password of that user'),
  /** How long etcd's history is kept; 0 leaves its compaction to others. */
  etcdCompactionInterval: optional(
    'etcd-compaction-interval',
    'TIME',
    duration,
    'how long etcd keeps history, 0 leaves it alone',
    '5m',
  ),
  /** How long past versions are kept, for watches that resume, lists at old versions and continue tokens. */
  historyRetention: defaulted(
    'history',
    'TIME',
    duration,
    HISTORY_MS,
    'how long past versions are kept for watches and continue tokens',
  ),
  /** Absent: uws if its binary can be loaded, otherwise node. */
  listener: optional('listener', 'NAME', oneOf(['uws', 'node'] as const), 'uws or node', 'uws if available'),
  /** Threads that serve connections. With 1 it is the main thread; above, that many other threads, which need `uws`. */
  listeningThreads: defaulted(
    'listening-threads',
    'COUNT',
    integer(1, LISTENING_THREADS),
    1,
    'threads that serve connections; from 2 on, beside the main one',
  ),
  /** How long after the start `/livez` ignores start hooks that have not finished. */
  livezGracePeriod: defaulted('livez-grace-period', 'TIME', duration, 0, 'time the start may take before /livez fails'),
  /** How long the server continues to serve requests while it closes and `/readyz` fails. */
  shutdownDelayDuration: defaulted(
    'shutdown-delay-duration',
    'TIME',
    duration,
    0,
    'time to continue serving after a signal, while /readyz fails',
  ),
  /** The previous release, to show the metrics that this release hides and that one did not; '' for none. */
  showHiddenMetricsForVersion: defaulted(
    'show-hidden-metrics-for-version',
    'VERSION',
    previousRelease,
    '',
    `also show deprecated metrics that are hidden since this release: ${PREVIOUS_RELEASE}`,
  ),
  /** Verbosity of the log: 0 for warnings and errors, 1 for information, 2 and more for everything. */
  verbosity: defaulted('v', 'LEVEL', integer(0, 10), 0, 'log verbosity'),
  /** Absent: text if standard error is a terminal, else JSON. */
  loggingFormat: optional(
    'logging-format',
    'FORMAT',
    oneOf(['text', 'json'] as const),
    'format of the log: text for people, with colours on a terminal, or json',
    'text on a terminal, else json',
  ),
};
