import { execFile, execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startMemoryServer } from './server.js';
import { LISTENER_NAMES } from '../listener/names.js';

/**
 * The longest time to an event in seconds: hundreds of times the usual time, and much less than the time until the next
 * bookmark.
 */
const LONGEST = 5;
const COUNT = 3;
/** After this time, in milliseconds, the client is ended. It is below the limit of a test. */
const CLIENT_MS = 100_000;

/** A Python with the official client: the one in the path, or that of Debian with its package python3-kubernetes. */
const python = ['python3', '/usr/bin/python3'].find(command => {
  try {
    execFileSync(command, ['-c', 'import kubernetes'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
const wanted = python !== undefined || process.env['CAPSTAN_TEST_REQUIRE'] === 'all';

describe.skipIf(!wanted)('the official Python client', () => {
  test.each(LISTENER_NAMES)(
    'receives each event of a watch when it happens, and not only with the next one (--listener=%s)',
    async listener => {
      expect(python, 'a python3 that can import kubernetes').toBeDefined();
      const server = await startMemoryServer('--listener', listener);
      try {
        const args = [resolve('test/clients/watch.py'), server.kubeconfig, String(COUNT)];
        const { stdout } = await promisify(execFile)(python!, args, { timeout: CLIENT_MS });
        const delays = stdout.trim().split('\n').map(Number);
        expect(delays).toHaveLength(COUNT);
        for (const delay of delays) expect(delay).toBeLessThan(LONGEST);
      } finally {
        await server.close();
      }
    },
  );
});
