import { ConfigError, definePlugin, type Plugin, storage } from '../../../core/api/index.js';
import { encryptedValues } from '../../../core/services/encryption/index.js';
import { encryptionOf } from '../values.js';
import type { EtcdConfig } from './connection.js';
import { EtcdStore } from './store.js';

const TEXTS = ['cafile', 'certfile', 'keyfile', 'user', 'passwordFile'] as const;

function parse(config: unknown): EtcdConfig {
  const {
    servers,
    prefix = '/registry',
    compactionInterval,
    encryption,
    ...rest
  } = (config ?? {}) as Record<string, unknown>;
  if (!Array.isArray(servers) || servers.length === 0)
    throw new ConfigError('servers', 'must list the URLs of the etcd servers');
  for (const [i, server] of servers.entries()) {
    if (typeof server !== 'string' || !/^https?:\/\/[^/@]+\/?$/.test(server)) {
      throw new ConfigError(`servers[${i}]`, 'must be a URL like https://127.0.0.1:2379, without a user');
    }
  }
  if (typeof prefix !== 'string' || prefix === '')
    throw new ConfigError('prefix', 'must be a string that is not empty');
  for (const name of TEXTS) {
    if (rest[name] !== undefined && typeof rest[name] !== 'string') throw new ConfigError(name, 'must be a string');
  }
  if ((rest['certfile'] === undefined) !== (rest['keyfile'] === undefined)) {
    throw new ConfigError('keyfile', 'certfile and keyfile must be given together');
  }
  if (rest['passwordFile'] !== undefined && rest['user'] === undefined)
    throw new ConfigError('user', 'must be given with passwordFile');
  const interval = compactionInterval;
  if (interval !== undefined && (typeof interval !== 'number' || !(interval >= 0 && interval < 2 ** 31)))
    throw new ConfigError('compactionInterval', 'must be a number of milliseconds');
  const texts = Object.fromEntries(
    TEXTS.flatMap(name => (rest[name] === undefined ? [] : [[name, rest[name] as string]])),
  );
  return {
    servers: servers as string[],
    prefix,
    ...(interval === undefined ? {} : { compactionInterval: interval }),
    ...texts,
    ...encryptionOf(encryption),
  };
}

/** Stores objects in an etcd cluster, which several servers can share. */
export default definePlugin<EtcdConfig>({
  name: 'storage/etcd',
  parse,
  contribute: config => [
    storage.of(async host => {
      const values = config.encryption === undefined ? undefined : await encryptedValues(config.encryption, host);
      return await new EtcdStore(config, message => host.log.warn({}, message), values).start();
    }),
  ],
}) satisfies Plugin<EtcdConfig>;
