import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { snapshotCommand } from '../../core/command/subcommands/snapshot.js';
import { Captured, ServerProcess } from './server.js';
import { eventually } from '../support/eventually.js';

const directory = mkdtempSync(join(tmpdir(), 'capstan-modes-'));
const dataDir = join(directory, 'data');
/** Runs a program under umask 000. */
const OPEN = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];

afterAll(() => rmSync(directory, { recursive: true }));

/** The directory and paths below it to which other users have access, except for certificates, which are public. */
const openToOthers = (path: string): string[] => {
  const found = statSync(path);
  const own =
    (found.mode & 0o077) === 0 || path.endsWith('.crt') ? [] : [`${path} ${(found.mode & 0o777).toString(8)}`];
  if (!found.isDirectory()) return own;
  return [...own, ...readdirSync(path).flatMap(name => openToOthers(join(path, name)))];
};

const closed = (): Promise<boolean> => eventually(() => openToOthers(dataDir).length === 0);

describe.skipIf(process.platform === 'win32')('under umask 000', () => {
  it('no file of the data directory is readable by other users, at the first start and at later ones', async () => {
    for (let start = 0; start < 2; start++) {
      const server = await ServerProcess.start(dataDir, [], OPEN);
      // RocksDB may create a file at this moment.
      await closed();
      expect(openToOthers(dataDir)).toEqual([]);
      expect(statSync(join(dataDir, 'store', 'db')).mode & 0o777).toBe(0o700);
      // RocksDB creates a new file.
      writeFileSync(join(dataDir, 'store', 'db', '999999.log'), '', { mode: 0o644 });
      chmodSync(join(dataDir, 'store', 'db', '999999.log'), 0o644);
      await closed();
      rmSync(join(dataDir, 'store', 'db', '999999.log'));
      await server.end();
    }
  });

  it('modes of an earlier release are corrected at the start', async () => {
    const files = [
      'store',
      'store/high-water',
      'store/db',
      'store/db/CURRENT',
      'pki',
      'pki/ca.key',
      'pki/continue.key',
    ];
    for (const file of files) chmodSync(join(dataDir, file), 0o777);
    chmodSync(join(dataDir, 'admin.kubeconfig'), 0o644);
    const server = await ServerProcess.start(dataDir);
    expect(openToOthers(dataDir)).toEqual([]);
    await server.end();
  });

  it('the mode of an existing data directory is not changed', async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    chmodSync(shared, 0o755);
    const server = await ServerProcess.start(shared, [], OPEN);
    await server.end();
    expect(openToOthers(shared)).toEqual([`${shared} 755`]);
  });

  it('a snapshot, and a store restored from it, are private', async () => {
    const server = await ServerProcess.start(dataDir);
    const file = join(directory, 'snapshot');
    writeFileSync(`${file}.partial`, '');
    chmodSync(`${file}.partial`, 0o666);
    expect(await snapshotCommand(['save', file, `--data-dir=${dataDir}`], new Captured())).toBe(0);
    await server.end();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const command = [process.execPath, 'dist/core/command/main.js', 'snapshot', 'restore', file];
    const restored = join(directory, 'restored');
    const { status, stderr } = spawnSync(OPEN[0]!, [...OPEN.slice(1), ...command, `--data-dir=${restored}`]);
    expect([status, String(stderr)]).toEqual([0, '']);
    expect(openToOthers(join(restored, 'store'))).toEqual([]);
  });
});
