import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../server/processes.js';
import { eventually } from '../support/eventually.js';

/** Threads keep garbage for a minute, and are checked every five seconds; on a busy machine, both take longer. */
const LIMIT_MS = 300_000;
const BODIES = 24;
/** Many small values, whose garbage is many times as large as the body. */
const DATA = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`key-${i}`, { no: ['text', i] }]));

let server: ServerProcess;
beforeAll(async () => {
  server = await new ServerProcess([]).start();
});
afterAll(() => server.dispose());

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) * 1024;

test.runIf(existsSync('/proc/self/status'))(
  'after a burst of large bodies, the server returns to at most 1.3 times the memory of before',
  { timeout: LIMIT_MS },
  async () => {
    const before = residentBytes();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data: DATA };
    const send = () => server.call('POST', '/api/v1/namespaces/default/configmaps', body);
    const answers = await Promise.all(Array.from({ length: BODIES }, send));
    expect(answers.every(({ status }) => status === 400 || status === 422 || status === 429)).toBe(true);
    await eventually(residentBytes, bytes => bytes <= 1.3 * before);
  },
);
