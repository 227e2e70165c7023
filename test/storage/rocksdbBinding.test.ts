import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadLibrary } from '../../plugins/storage/rocksdb/binding.js';
import { mayMount } from './rocksdbFiles.js';

const run = promisify(execFile);
const MAIN = 'dist/core/command/main.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-binding-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** The path of a shared library that this process has loaded. */
async function loadedFile(name: string): Promise<string> {
  loadLibrary();
  const maps = await readFile('/proc/self/maps', 'utf8');
  return new RegExp(` (/\\S*/${name}\\S*)$`, 'm').exec(maps)![1]!;
}

/** True if Node.js itself needs the library and does not start without it, as some builds of release 26. */
const isOfNode = process.platform === 'linux' && readFileSync('/proc/self/maps', 'utf8').includes('/libatomic');

describe.runIf(process.platform === 'linux' && mayMount() && !isOfNode)(
  'a system without a library that RocksDB needs',
  () => {
    it('gets an error that names the platform, the library and the other stores', async () => {
      const missing = await loadedFile('libatomic');
      const serve = `exec '${process.execPath}' ${MAIN} serve --data-dir='${directory}' --secure-port=0`;
      const { code, stderr } = await run('unshare', [
        '-rm',
        'sh',
        '-c',
        `mount --bind /dev/null '${missing}' && ${serve}`,
      ]).then(
        () => ({ code: 0, stderr: '' }),
        (error: { code: number; stderr: string }) => error,
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/^capstan: RocksDB cannot be loaded on linux-\w+, Node\.js [\d.]+: .*libatomic/m);
      expect(stderr).toMatch(/use --storage-backend=etcd, or --storage-backend=memory/);
      expect(await readdir(directory)).not.toContain('store');
    });
  },
);
