import { afterAll, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

/* Servers in one process, of which the further ones share threads (docs/decisions/0025). */

/** The threads that are created and ended in this process. */
let running = 0;
const count = (worker: { once(name: 'exit', listener: () => void): void }): void => {
  running++;
  worker.once('exit', () => running--);
};
process.on('worker', count as never);
afterAll(() => void process.off('worker', count as never));

const start = () => startServer({ storage: 'memory', port: 0, naming: 'kubernetes' });

/** Makes a namespace, and waits until the controllers have put into it what every namespace has. */
async function useControllers(server: RunningServer, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const made = await server.request('POST', '/api/v1/namespaces', { body: namespace });
  expect(made.status).toBe(201);
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await eventually(async () => (await server.request('GET', path)).status === 200);
}

test('further servers share threads, go on when others close, and leave none behind', {
  timeout: 120_000,
}, async () => {
  const first = await start();
  const ofFirst = running;
  const [second, third] = await Promise.all([start(), start()]);
  // Each has a thread for its pool; one with controllers and one with stores are shared. A pool that is slow may have
  // another thread.
  expect(running - ofFirst).toBeLessThanOrEqual(6);
  await Promise.all([first, second, third].map((server, i) => useControllers(server, `a${i}`)));
  expect((await third.request('GET', '/api/v1/namespaces/a1')).status).toBe(404);
  await Promise.all([first.close(), second.close()]);
  await useControllers(third, 'b');
  await third.close();
  await eventually(() => running === 0);
});
