import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../core/api/point.js';
import { parseConfig, loadSettings } from '../../core/command/config.js';
import { etcdConfig } from '../../core/server/etcd.js';
import plugin from '../../plugins/storage/etcd/index.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-etcd-flags-'));
const file = (name: string): string => {
  const path = join(folder, name);
  writeFileSync(path, 'pem');
  return path;
};
const [ca, cert, key, password] = ['ca', 'cert', 'key', 'password'].map(file) as [string, string, string, string];
const ETCD = '--storage-backend=etcd';
const SERVERS = '--etcd-servers=https://a:2379,https://b:2379';

describe('flags of etcd', () => {
  it('become the settings of the plugin', () => {
    const settings = loadSettings([
      ETCD,
      SERVERS,
      `--etcd-cafile=${ca}`,
      `--etcd-certfile=${cert}`,
      `--etcd-keyfile=${key}`,
    ]);
    expect(plugin.parse(JSON.parse(JSON.stringify(etcdConfig(settings))))).toEqual({
      servers: ['https://a:2379', 'https://b:2379'],
      prefix: '/registry',
      compactionInterval: 300_000,
      cafile: ca,
      certfile: cert,
      keyfile: key,
    });
    const more = [
      '--etcd-prefix=/here',
      '--etcd-compaction-interval=0',
      '--etcd-user=u',
      `--etcd-password-file=${password}`,
    ];
    expect(etcdConfig(loadSettings([ETCD, SERVERS, ...more]))).toMatchObject({
      prefix: '/here',
      compactionInterval: 0,
      user: 'u',
      passwordFile: password,
    });
  });

  it('are also settings of the configuration file', () => {
    const yaml = 'storageBackend: etcd\netcdServers: [http://a:2379]\netcdPrefix: /x\n';
    expect(parseConfig(yaml, folder)).toMatchObject({ etcdServers: ['http://a:2379'], etcdPrefix: '/x' });
  });

  it.each([
    [[ETCD], '--etcd-servers: must name the etcd servers: --etcd-servers=https://HOST:2379'],
    [[ETCD, '--etcd-servers=a:2379'], '--etcd-servers: must list URLs like https://127.0.0.1:2379, not "a:2379"'],
    [
      [ETCD, '--etcd-servers=http://root:secret@a:2379'],
      '--etcd-servers: must not contain a user: use --etcd-user and --etcd-password-file',
    ],
    [[SERVERS], '--etcd-servers: is for the etcd backend: add --storage-backend=etcd, or omit it'],
    [
      ['--storage-backend=memory', '--etcd-prefix=/x'],
      '--etcd-prefix: is for the etcd backend: add --storage-backend=etcd, or omit it',
    ],
    [[ETCD, SERVERS, `--etcd-certfile=${cert}`], '--etcd-certfile: needs --etcd-keyfile too'],
    [[ETCD, SERVERS, `--etcd-keyfile=${key}`], '--etcd-keyfile: needs --etcd-certfile too'],
    [[ETCD, SERVERS, '--etcd-cafile=/nowhere'], '--etcd-cafile: there is no file /nowhere'],
    [
      [ETCD, '--etcd-servers=http://a:1', `--etcd-cafile=${ca}`],
      '--etcd-cafile: is for TLS: write https:// in --etcd-servers, or omit it',
    ],
    [[ETCD, SERVERS, `--etcd-password-file=${password}`], '--etcd-password-file: needs --etcd-user too'],
    [[ETCD, SERVERS, '--etcd-user=u'], '--etcd-user: needs --etcd-password-file too'],
    [[ETCD, SERVERS, '--etcd-prefix=/'], '--etcd-prefix: must contain more than slashes: omit it for /registry'],
    [['--storage-backend=etc'], '--storage-backend: must be rocksdb or memory or etcd, not "etc"'],
  ])('%j are refused in one line with the flag and a hint', (args, text) => {
    expect(() => loadSettings(args)).toThrow(
      new ConfigError(text.slice(0, text.indexOf(': ')), text.slice(text.indexOf(': ') + 2)),
    );
  });
});
