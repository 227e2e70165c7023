import type { ResourceType } from '../api/resource.js';
import type { NamingName } from '../naming.js';
import type { PluginUse } from '../plugin/settings.js';

/** The authorization modes. */
export const AUTHORIZATION_MODES = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const;

/** A way to decide whether a request is allowed. */
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

/** Settings of a server with every default filled in. Files are paths as given, durations are in milliseconds. */
export interface Settings {
  readonly dataDir: string;
  readonly bindAddress: string;
  /** Port of HTTPS; 0 picks a free one. */
  readonly port: number;
  /** Port of plain HTTP on the loopback address; 0 picks a free one. Absent: no plain HTTP. */
  readonly httpPort?: number;
  readonly naming: NamingName;
  /** Both or neither. Absent: the server makes its own certificate. */
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  /** Further names of the server's own certificate. */
  readonly tlsSan: readonly string[];
  readonly clientCaFile?: string;
  readonly tokenAuthFile?: string;
  /** Accepts bootstrap tokens. */
  readonly enableBootstrapTokenAuth: boolean;
  readonly anonymousAuth: boolean;
  readonly authorizationMode: readonly AuthorizationMode[];
  /** Feature gates that are set, each as `name=true` or `name=false`. */
  readonly featureGates: readonly string[];
  /** Versions and resources that are set, each as `key=true`, `key=false` or `key`. */
  readonly runtimeConfig: readonly string[];
  /** Admission plugins beside those that are on by default, in upstream's names. */
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
  /** An AdmissionConfiguration (v1) with the configuration of admission plugins. */
  readonly admissionControlConfigFile?: string;
  /** URLs of services of webhooks, each as `namespace/name=url` or `namespace/name:port=url`. */
  readonly webhookResolve: readonly string[];
  /** The first is the issuer of new tokens of service accounts; those of the others are accepted. Absent: its own. */
  readonly serviceAccountIssuer?: readonly string[];
  /** Files with the keys that such tokens are verified with. Absent: the signing key, and that of the certificate. */
  readonly serviceAccountKeyFile?: readonly string[];
  /** Absent: the server makes its own key. */
  readonly serviceAccountSigningKeyFile?: string;
  /** Longest lifetime of new tokens; absent: none. */
  readonly serviceAccountMaxTokenExpiration?: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
  /** Where the discovery document of the issuer says that the keys are; absent: this server. */
  readonly serviceAccountJwksUri?: string;
  readonly serviceAccountLookup: boolean;
  /** Audiences of the server; absent: the issuers. */
  readonly apiAudiences?: readonly string[];
  /** How long a legacy token that the server made may be unused before it is removed. */
  readonly legacyServiceAccountTokenCleanUpPeriod: number;
  /** Names of controllers, `-name` and `*`. Absent: `*`, and with bootstrap tokens those that serve them. */
  readonly controllers?: readonly string[];
  /** Controllers have the permissions of their own roles alone. */
  readonly useServiceAccountCredentials: boolean;
  /** CA that issues certificates for all standard signers; both or neither. Absent: the server's own CA. */
  readonly clusterSigningCertFile?: string;
  readonly clusterSigningKeyFile?: string;
  /** Longest lifetime of the issued certificates. */
  readonly clusterSigningDuration: number;
  /** CAs of single signers; both or neither, and not with one for all. */
  readonly clusterSigningApiserverClientCertFile?: string;
  readonly clusterSigningApiserverClientKeyFile?: string;
  readonly clusterSigningNodeClientCertFile?: string;
  readonly clusterSigningNodeClientKeyFile?: string;
  readonly clusterSigningNodeServingCertFile?: string;
  readonly clusterSigningNodeServingKeyFile?: string;
  readonly clusterSigningLegacyUnknownCertFile?: string;
  readonly clusterSigningLegacyUnknownKeyFile?: string;
  /** File of audit events, or `-` for standard output. Absent, or without a policy: nothing is recorded. */
  readonly auditLogPath?: string;
  /** YAML file that says which requests are recorded. */
  readonly auditPolicyFile?: string;
  readonly storage: 'rocksdb' | 'memory' | 'etcd';
  /** URLs of the etcd servers. Required with the etcd backend; like all settings of etcd, allowed with it only. */
  readonly etcdServers?: readonly string[];
  /** Prefix of every key. Absent: `/registry`. */
  readonly etcdPrefix?: string;
  readonly etcdCafile?: string;
  /** Both or neither. */
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  /** Both or neither; for an etcd with authentication. */
  readonly etcdUser?: string;
  readonly etcdPasswordFile?: string;
  /** How long etcd's history is kept; 0 leaves its compaction to others. */
  readonly etcdCompactionInterval?: number;
  /** How long past versions are kept, for watches that resume, lists at old versions and continue tokens. */
  readonly historyRetention: number;
  /** Absent: uws if its binary can be loaded, else node. */
  readonly listener?: 'uws' | 'node';
  /** Threads that serve connections. With 1 it is the main thread; above, so many others, which need `uws`. */
  readonly listeningThreads: number;
  /** How long after the start `/livez` ignores start hooks that have not finished. */
  readonly livezGracePeriod: number;
  /** How long the server continues to serve requests while it closes and `/readyz` fails. */
  readonly shutdownDelayDuration: number;
  /** Verbosity of the log: 0 for warnings and errors, 1 for information, 2 and more for everything. */
  readonly verbosity: number;
  readonly plugins: readonly PluginUse[];
  /** Resource types made with `defineResource`. One with a `validate` function must be contributed by a plugin. */
  readonly resources: readonly ResourceType[];
}
