import { HISTORY_MS } from '../limits.js';
import type { ResourceType } from '../api/resource.js';
import type { NamingName } from '../naming.js';
import type { PluginUse } from '../plugin/settings.js';

/** Ways to decide access, in order of `authorizationMode`. */
export const AUTHORIZATION_MODES = ['RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

/**
 * Everything a server can be told, with every default filled in. Files are paths as given. Durations in milliseconds.
 */
export interface Settings {
  readonly dataDir: string;
  readonly bindAddress: string;
  /** Of HTTPS; 0 picks a free one. */
  readonly port: number;
  /** Plain HTTP on loopback addresses; undefined: off, 0 picks a free port. */
  readonly httpPort?: number;
  readonly naming: NamingName;
  /** Both or neither; neither: the server's own certificate. */
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  /** Further names of the server's own certificate. */
  readonly tlsSan: readonly string[];
  readonly clientCaFile?: string;
  readonly tokenAuthFile?: string;
  readonly anonymousAuth: boolean;
  readonly authorizationMode: readonly AuthorizationMode[];
  readonly storage: 'rocksdb' | 'memory' | 'etcd';
  /** URLs of the etcd servers; needed with the etcd backend, and like everything else of etcd allowed with it only. */
  readonly etcdServers?: readonly string[];
  /** Begins every key; undefined: `/registry`. */
  readonly etcdPrefix?: string;
  readonly etcdCafile?: string;
  /** Both or neither. */
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  /** Both or neither; for an etcd with authentication. */
  readonly etcdUser?: string;
  readonly etcdPasswordFile?: string;
  /** How long etcd's history is kept; 0: something else compacts it. */
  readonly etcdCompactionInterval?: number;
  /** How long past versions are kept: for watches that resume, lists of old versions and continue tokens. */
  readonly historyRetention: number;
  /** Undefined: uWS where its binary loads, else node. */
  readonly listener?: 'uws' | 'node';
  /** How long after the start `/livez` does not count unfinished start hooks as failures. */
  readonly livezGracePeriod: number;
  /** How long the server goes on serving after it was told to stop and `/readyz` fails. */
  readonly shutdownDelayDuration: number;
  /** Verbosity of the log: 0 warnings and errors, 1 information, 2 and more everything. */
  readonly verbosity: number;
  readonly plugins: readonly PluginUse[];
  /** Resource types made with `defineResource`; those with a `validate` of their own come through a plugin. */
  readonly resources: readonly ResourceType[];
}

/** What holds where nothing is said. */
export const DEFAULTS: Settings = {
  dataDir: './.capstan',
  bindAddress: '127.0.0.1',
  port: 6443,
  naming: 'neutral',
  tlsSan: [],
  anonymousAuth: true,
  authorizationMode: ['RBAC'],
  storage: 'rocksdb',
  historyRetention: HISTORY_MS,
  livezGracePeriod: 0,
  shutdownDelayDuration: 0,
  verbosity: 0,
  plugins: [],
  resources: [],
};
