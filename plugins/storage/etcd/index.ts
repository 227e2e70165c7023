import { ConfigError, definePlugin, type Plugin, storage } from '../../../core/api/index.js';
import type { EtcdConfig } from './connection.js';
import { EtcdStore } from './store.js';

const FILES = ['cafile', 'certfile', 'keyfile'] as const;

function parse(config: unknown): EtcdConfig {
  const { servers, prefix = 'capstan/', ...rest } = (config ?? {}) as Record<string, unknown>;
  if (!Array.isArray(servers) || servers.length === 0) throw new ConfigError('servers', 'must list the URLs of the etcd servers');
  for (const [i, server] of servers.entries()) {
    if (typeof server !== 'string' || !/^https?:\/\/[^/]+\/?$/.test(server)) {
      throw new ConfigError(`servers[${i}]`, 'must be a URL like https://127.0.0.1:2379');
    }
  }
  if (typeof prefix !== 'string' || prefix === '') throw new ConfigError('prefix', 'must be a string that is not empty');
  for (const name of FILES) {
    if (rest[name] !== undefined && typeof rest[name] !== 'string') throw new ConfigError(name, 'must name a PEM file');
  }
  if ((rest['certfile'] === undefined) !== (rest['keyfile'] === undefined)) {
    throw new ConfigError('keyfile', 'certfile and keyfile must be given together');
  }
  const files = Object.fromEntries(FILES.flatMap(name => (rest[name] === undefined ? [] : [[name, rest[name] as string]])));
  return { servers: servers as string[], prefix, ...files };
}

/** Objects in an etcd cluster, for several servers over one set of objects. */
export default definePlugin<EtcdConfig>({
  name: 'storage/etcd',
  parse,
  contribute: config => [storage.of(() => new EtcdStore(config).start())],
}) satisfies Plugin<EtcdConfig>;
