import { LISTENING_THREADS } from '../limits.js';
import { AUTHORIZATION_MODES, type Settings } from '../settings/settings.js';
import { duration, flag, integer, listOf, names, oneOf, pairs, port, type Reader, text } from './values.js';

/** A flag of `capstan serve`. */
export interface Option {
  readonly setting: keyof Settings;
  readonly read: Reader<unknown>;
  /** May be given several times; the lists are concatenated. */
  readonly repeatable?: true;
  /** May be given without a value, which means true. */
  readonly valueOptional?: true;
  readonly placeholder: string;
  readonly help: string;
}

/** The flags of the CA of one signer. */
const signerOptions = (flag: string, setting: string, signer: string): [string, Option][] => [
  [
    `cluster-signing-${flag}-cert-file`,
    {
      setting: `clusterSigning${setting}CertFile` as keyof Settings,
      read: text,
      placeholder: 'FILE',
      help: `CA certificate that issues ${signer}, in PEM`,
    },
  ],
  [
    `cluster-signing-${flag}-key-file`,
    {
      setting: `clusterSigning${setting}KeyFile` as keyof Settings,
      read: text,
      placeholder: 'FILE',
      help: 'its private key',
    },
  ],
];

/** All flags by name. The configuration file has the same settings under the flags' names in camelCase. */
export const OPTIONS: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['data-dir', { setting: 'dataDir', read: text, placeholder: 'DIR', help: 'directory of all data (./.capstan)' }],
  [
    'bind-address',
    { setting: 'bindAddress', read: text, placeholder: 'ADDRESS', help: 'address to listen on (127.0.0.1)' },
  ],
  ['secure-port', { setting: 'port', read: port, placeholder: 'PORT', help: 'HTTPS port, 0 picks a free one (6443)' }],
  [
    'http-port',
    { setting: 'httpPort', read: port, placeholder: 'PORT', help: 'plain HTTP port on loopback addresses (off)' },
  ],
  [
    'naming',
    {
      setting: 'naming',
      read: oneOf(['neutral', 'kubernetes']),
      placeholder: 'NAMES',
      help: 'neutral or kubernetes (neutral)',
    },
  ],
  [
    'tls-cert-file',
    { setting: 'tlsCertFile', read: text, placeholder: 'FILE', help: 'serving certificate (made by the server)' },
  ],
  ['tls-private-key-file', { setting: 'tlsPrivateKeyFile', read: text, placeholder: 'FILE', help: 'its private key' }],
  [
    'tls-san',
    {
      setting: 'tlsSan',
      read: listOf(text),
      repeatable: true,
      placeholder: 'NAME',
      help: "further name of the server's own certificate; repeatable",
    },
  ],
  [
    'client-ca-file',
    { setting: 'clientCaFile', read: text, placeholder: 'FILE', help: 'CA bundle for client certificates' },
  ],
  [
    'token-auth-file',
    { setting: 'tokenAuthFile', read: text, placeholder: 'FILE', help: 'static tokens: token,user,uid,"group,…"' },
  ],
  [
    'enable-bootstrap-token-auth',
    {
      setting: 'enableBootstrapTokenAuth',
      read: flag,
      valueOptional: true,
      placeholder: 'BOOL',
      help: 'accept bootstrap tokens, by which nodes join (false)',
    },
  ],
  [
    'anonymous-auth',
    {
      setting: 'anonymousAuth',
      read: flag,
      valueOptional: true,
      placeholder: 'BOOL',
      help: 'accept requests without credentials (true)',
    },
  ],
  [
    'authorization-mode',
    {
      setting: 'authorizationMode',
      read: listOf(oneOf(AUTHORIZATION_MODES)),
      repeatable: true,
      placeholder: 'MODES',
      help: 'Node, RBAC, AlwaysAllow, AlwaysDeny, with commas (RBAC)',
    },
  ],
  [
    'enable-admission-plugins',
    {
      setting: 'enableAdmissionPlugins',
      read: names,
      repeatable: true,
      placeholder: 'NAMES',
      help: 'admission plugins beside those that are on by default, with commas',
    },
  ],
  [
    'disable-admission-plugins',
    {
      setting: 'disableAdmissionPlugins',
      read: names,
      repeatable: true,
      placeholder: 'NAMES',
      help: 'admission plugins that are on by default, with commas',
    },
  ],
  [
    'admission-control-config-file',
    {
      setting: 'admissionControlConfigFile',
      read: text,
      placeholder: 'FILE',
      help: 'AdmissionConfiguration with the credentials for webhooks',
    },
  ],
  [
    'webhook-resolve',
    {
      setting: 'webhookResolve',
      read: names,
      repeatable: true,
      placeholder: 'SERVICE=URL',
      help: 'where the service NAMESPACE/NAME of webhooks is: https://HOST:PORT',
    },
  ],
  [
    'feature-gates',
    {
      setting: 'featureGates',
      read: pairs,
      repeatable: true,
      placeholder: 'GATES',
      help: 'feature gates that are not as in the release: name=BOOL, with commas',
    },
  ],
  [
    'runtime-config',
    {
      setting: 'runtimeConfig',
      read: pairs,
      repeatable: true,
      placeholder: 'APIS',
      help: 'APIs that are not served as in the release: group/version[/resource]=BOOL, with commas',
    },
  ],
  [
    'service-account-issuer',
    {
      setting: 'serviceAccountIssuer',
      read: listOf(text),
      repeatable: true,
      placeholder: 'URL',
      help: 'issuer of service account tokens; further ones are accepted; repeatable',
    },
  ],
  [
    'service-account-key-file',
    {
      setting: 'serviceAccountKeyFile',
      read: listOf(text),
      repeatable: true,
      placeholder: 'FILE',
      help: 'keys that verify service account tokens, in PEM (the signing key); repeatable',
    },
  ],
  [
    'service-account-signing-key-file',
    {
      setting: 'serviceAccountSigningKeyFile',
      read: text,
      placeholder: 'FILE',
      help: 'key that signs service account tokens, in PEM (made by the server)',
    },
  ],
  [
    'service-account-max-token-expiration',
    {
      setting: 'serviceAccountMaxTokenExpiration',
      read: duration,
      placeholder: 'TIME',
      help: 'longest lifetime of service account tokens, at least 1h (no limit)',
    },
  ],
  [
    'service-account-extend-token-expiration',
    {
      setting: 'serviceAccountExtendTokenExpiration',
      read: flag,
      valueOptional: true,
      placeholder: 'BOOL',
      help: 'let tokens of pods live for a year, for programs that read them once (true)',
    },
  ],
  [
    'service-account-jwks-uri',
    {
      setting: 'serviceAccountJwksUri',
      read: text,
      placeholder: 'URL',
      help: 'where others get the keys of service account tokens (this server)',
    },
  ],
  [
    'service-account-lookup',
    {
      setting: 'serviceAccountLookup',
      read: flag,
      valueOptional: true,
      placeholder: 'BOOL',
      help: 'accept tokens of secrets only while secret and account exist (true)',
    },
  ],
  [
    'api-audiences',
    {
      setting: 'apiAudiences',
      read: listOf(text),
      repeatable: true,
      placeholder: 'NAMES',
      help: 'audiences of service account tokens for this server (the issuers)',
    },
  ],
  [
    'legacy-service-account-token-clean-up-period',
    {
      setting: 'legacyServiceAccountTokenCleanUpPeriod',
      read: duration,
      placeholder: 'TIME',
      help: 'how long legacy tokens of service accounts may be unused before they end (8760h)',
    },
  ],
  [
    'controllers',
    {
      setting: 'controllers',
      read: listOf(text),
      repeatable: true,
      placeholder: 'NAMES',
      help: 'controllers to run: *, name, -name (*, and with bootstrap tokens those for them)',
    },
  ],
  [
    'use-service-account-credentials',
    {
      setting: 'useServiceAccountCredentials',
      read: flag,
      valueOptional: true,
      placeholder: 'BOOL',
      help: 'run each controller with the permissions of its own role alone (false)',
    },
  ],
  [
    'cluster-signing-cert-file',
    {
      setting: 'clusterSigningCertFile',
      read: text,
      placeholder: 'FILE',
      help: "CA certificate that issues certificates for all signers, in PEM (the server's own CA)",
    },
  ],
  [
    'cluster-signing-key-file',
    { setting: 'clusterSigningKeyFile', read: text, placeholder: 'FILE', help: 'its private key' },
  ],
  [
    'cluster-signing-duration',
    {
      setting: 'clusterSigningDuration',
      read: duration,
      placeholder: 'TIME',
      help: 'longest lifetime of issued certificates (8760h)',
    },
  ],
  ...signerOptions('kube-apiserver-client', 'ApiserverClient', 'client certificates'),
  ...signerOptions('kubelet-client', 'NodeClient', 'client certificates of nodes'),
  ...signerOptions('kubelet-serving', 'NodeServing', 'serving certificates of nodes'),
  ...signerOptions('legacy-unknown', 'LegacyUnknown', 'certificates of the legacy signer'),
  [
    'audit-log-path',
    {
      setting: 'auditLogPath',
      read: text,
      placeholder: 'FILE',
      help: 'log of requests as JSON, - for standard output',
    },
  ],
  [
    'audit-policy-file',
    {
      setting: 'auditPolicyFile',
      read: text,
      placeholder: 'FILE',
      help: 'audit policy in YAML; without one, nothing is recorded',
    },
  ],
  [
    'storage-backend',
    {
      setting: 'storage',
      read: oneOf(['rocksdb', 'memory', 'etcd']),
      placeholder: 'STORE',
      help: 'rocksdb, memory or etcd (rocksdb)',
    },
  ],
  [
    'etcd-servers',
    {
      setting: 'etcdServers',
      read: listOf(text),
      repeatable: true,
      placeholder: 'URLS',
      help: 'etcd servers, with commas',
    },
  ],
  [
    'etcd-prefix',
    { setting: 'etcdPrefix', read: text, placeholder: 'PREFIX', help: 'prefix of all keys in etcd (/registry)' },
  ],
  [
    'etcd-cafile',
    { setting: 'etcdCafile', read: text, placeholder: 'FILE', help: 'CA bundle for the certificates of etcd' },
  ],
  ['etcd-certfile', { setting: 'etcdCertfile', read: text, placeholder: 'FILE', help: 'client certificate for etcd' }],
  ['etcd-keyfile', { setting: 'etcdKeyfile', read: text, placeholder: 'FILE', help: 'its private key' }],
  ['etcd-user', { setting: 'etcdUser', read: text, placeholder: 'NAME', help: 'user of an etcd with authentication' }],
  [
    'etcd-password-file',
    { setting: 'etcdPasswordFile', read: text, placeholder: 'FILE', help: 'holds the password of that user' },
  ],
  [
    'etcd-compaction-interval',
    {
      setting: 'etcdCompactionInterval',
      read: duration,
      placeholder: 'TIME',
      help: 'how long etcd keeps history, 0 leaves it alone (5m)',
    },
  ],
  [
    'history',
    {
      setting: 'historyRetention',
      read: duration,
      placeholder: 'TIME',
      help: 'how long past versions are kept for watches and continue tokens (5m)',
    },
  ],
  [
    'listener',
    { setting: 'listener', read: oneOf(['uws', 'node']), placeholder: 'NAME', help: 'uws or node (uws if available)' },
  ],
  [
    'listening-threads',
    {
      setting: 'listeningThreads',
      read: integer(1, LISTENING_THREADS),
      placeholder: 'COUNT',
      help: 'threads that serve connections; from 2 on, beside the main one (1)',
    },
  ],
  [
    'livez-grace-period',
    {
      setting: 'livezGracePeriod',
      read: duration,
      placeholder: 'TIME',
      help: 'time the start may take before /livez fails (0)',
    },
  ],
  [
    'shutdown-delay-duration',
    {
      setting: 'shutdownDelayDuration',
      read: duration,
      placeholder: 'TIME',
      help: 'time to continue serving after a signal, while /readyz fails (0)',
    },
  ],
  ['v', { setting: 'verbosity', read: integer(0, 10), placeholder: 'LEVEL', help: 'log verbosity (0)' }],
]);

/**
 * Flags of upstream for connections to node agents, which this server does not make. They are accepted, so that a
 * command line written for upstream starts the server, and reported.
 */
export const IGNORED: ReadonlyMap<string, Reader<unknown>> = new Map<string, Reader<unknown>>([
  ['kubelet-certificate-authority', text],
  ['kubelet-client-certificate', text],
  ['kubelet-client-key', text],
  ['kubelet-port', port],
  ['kubelet-preferred-address-types', listOf(text)],
  ['kubelet-read-only-port', port],
  ['kubelet-timeout', duration],
]);

/** Returns the text that `capstan --help` prints. */
export function helpText(): string {
  const lines = [...OPTIONS].map(([name, option]) => {
    const left = name.length === 1 ? `-${name} ${option.placeholder}` : `--${name} ${option.placeholder}`;
    return `  ${left.padEnd(34)}${option.help}`;
  });
  return [
    'Usage: capstan <command> [flags]',
    '',
    'Commands:',
    '  serve      run the server in the foreground (the default)',
    '  store      check --data-dir=DIR: verify the files of a stopped server',
    '             recover --data-dir=DIR [--accept-loss]: recover readable data of damaged files',
    '  snapshot   save FILE [--data-dir=DIR | --kubeconfig=FILE]: take a snapshot of a running server',
    '             restore FILE --data-dir=NEW: create a data directory from a snapshot',
    '             status FILE: verify a snapshot',
    '  auth       reconcile -f FILE [--data-dir=DIR | --kubeconfig=FILE] [--remove-extra-permissions]',
    '             [--remove-extra-subjects] [--dry-run]: make roles and bindings as in a file',
    '  plugins    list [flags of serve]: the plugins of a server, in the order in which they are asked',
    '  plugin     init NAME [--point=POINT]: write a package with a plugin, its tests and scripts',
    '  cel        check and evaluate expressions',
    '  version    print the version',
    '',
    'Flags of serve:',
    `  ${'--config FILE'.padEnd(34)}the same settings in YAML, and the list of plugins; flags override it`,
    ...lines,
    `  --${[...IGNORED.keys()].join(', --')}: accepted without effect`,
    '',
  ].join('\n');
}
