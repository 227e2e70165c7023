import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../server/processes.js';

/** How long memory may take to be released: threads keep garbage for a minute, and are checked every five seconds. */
const BACK_MS = 90_000;
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
  'within a minute and a half after a burst of large bodies, the server has at most 1.3 times the memory of before',
  async () => {
    const before = residentBytes();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data: DATA };
    const send = () => server.call('POST', '/api/v1/namespaces/default/configmaps', body);
    const answers = await Promise.all(Array.from({ length: BODIES }, send));
    expect(answers.every(({ status }) => status === 400 || status === 422 || status === 429)).toBe(true);
    const deadline = performance.now() + BACK_MS;
    await new Promise<void>((resolve, reject) => {
      const timer = setInterval(() => {
        const now = residentBytes();
        if (now > 1.3 * before && performance.now() < deadline) return;
        clearInterval(timer);
        if (now <= 1.3 * before) resolve();
        else reject(new Error(`${Math.round(now / 2 ** 20)} MB, of ${Math.round(before / 2 ** 20)} before`));
      }, 200);
    });
  },
  2 * BACK_MS,
);
