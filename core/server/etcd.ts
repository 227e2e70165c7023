import { existsSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import type { Settings } from '../settings/settings.js';

/** Settings of the etcd backend and their flags. */
const FLAGS = [
  ['etcdServers', '--etcd-servers'],
  ['etcdPrefix', '--etcd-prefix'],
  ['etcdCafile', '--etcd-cafile'],
  ['etcdCertfile', '--etcd-certfile'],
  ['etcdKeyfile', '--etcd-keyfile'],
  ['etcdUser', '--etcd-user'],
  ['etcdPasswordFile', '--etcd-password-file'],
  ['etcdCompactionInterval', '--etcd-compaction-interval'],
] as const;
const FILES = ['etcdCafile', 'etcdCertfile', 'etcdKeyfile', 'etcdPasswordFile'] as const;

/**
 * Checks the settings of etcd: that they fit the backend and each other, and that their files exist. Throws
 * ConfigError, which names the flag and the fix.
 */
export function checkEtcd(settings: Settings): Settings {
  const given = FLAGS.find(([name]) => settings[name] !== undefined);
  if (settings.storage !== 'etcd') {
    if (given) throw new ConfigError(given[1], 'is for the etcd backend: add --storage-backend=etcd, or omit it');
    return settings;
  }
  const { etcdServers = [], etcdCertfile, etcdKeyfile, etcdCafile, etcdPrefix, etcdUser, etcdPasswordFile } = settings;
  if (etcdServers.length === 0)
    throw new ConfigError('--etcd-servers', 'must name the etcd servers: --etcd-servers=https://HOST:2379');
  // A password in a URL would be shown wherever the URL is.
  if (etcdServers.some(server => server.includes('@')))
    throw new ConfigError('--etcd-servers', 'must not contain a user: use --etcd-user and --etcd-password-file');
  const wrong = etcdServers.find(server => !/^https?:\/\/[^/]+\/?$/.test(server));
  if (wrong !== undefined)
    throw new ConfigError('--etcd-servers', `must list URLs like https://127.0.0.1:2379, not ${JSON.stringify(wrong)}`);
  if (etcdCertfile !== undefined && etcdKeyfile === undefined)
    throw new ConfigError('--etcd-certfile', 'needs --etcd-keyfile too');
  if (etcdKeyfile !== undefined && etcdCertfile === undefined)
    throw new ConfigError('--etcd-keyfile', 'needs --etcd-certfile too');
  if ((etcdCafile ?? etcdCertfile) !== undefined && etcdServers.some(server => server.startsWith('http:')))
    throw new ConfigError(
      etcdCafile === undefined ? '--etcd-certfile' : '--etcd-cafile',
      'is for TLS: write https:// in --etcd-servers, or omit it',
    );
  if (etcdPasswordFile !== undefined && etcdUser === undefined)
    throw new ConfigError('--etcd-password-file', 'needs --etcd-user too');
  if (etcdUser !== undefined && etcdPasswordFile === undefined)
    throw new ConfigError('--etcd-user', 'needs --etcd-password-file too');
  if (etcdPrefix !== undefined && !/[^/]/.test(etcdPrefix))
    throw new ConfigError('--etcd-prefix', 'must contain more than slashes: omit it for /registry');
  for (const [name, flag] of FLAGS) {
    const file = FILES.some(one => one === name) ? (settings[name] as string | undefined) : undefined;
    if (file !== undefined && !existsSync(file)) throw new ConfigError(flag, `there is no file ${file}`);
  }
  return settings;
}

/** The etcd plugin's configuration. */
export const etcdConfig = (settings: Settings): object => ({
  servers: settings.etcdServers,
  prefix: settings.etcdPrefix ?? '/registry',
  compactionInterval: settings.etcdCompactionInterval ?? settings.historyRetention,
  cafile: settings.etcdCafile,
  certfile: settings.etcdCertfile,
  keyfile: settings.etcdKeyfile,
  user: settings.etcdUser,
  passwordFile: settings.etcdPasswordFile,
});
