import type { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { QUIET_YOUNG_GENERATION_MB, WRITER_YOUNG_GENERATION_MB } from '../../core/limits.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

/* Servers in one process; all but the first share threads (docs/decisions/0025). */

/** The threads of this process. */
const running = new Set<Worker>();
const add = (worker: Worker): void => {
  running.add(worker);
  worker.once('exit', () => running.delete(worker));
};
process.on('worker', add);
afterAll(() => void process.off('worker', add));

/**
 * The numbers of writer threads and control threads, which differ from others by the size of their young generation.
 */
const shared = (): number[] =>
  [WRITER_YOUNG_GENERATION_MB, QUIET_YOUNG_GENERATION_MB].map(
    size => [...running].filter(({ resourceLimits }) => resourceLimits?.maxYoungGenerationSizeMb === size).length,
  );

const start = () => startServer({ storage: 'memory', port: 0, naming: 'kubernetes' });

/** Creates a namespace, and waits until the controllers have created its default objects. */
async function useControllers(server: RunningServer, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const made = await server.request('POST', '/api/v1/namespaces', { body: namespace });
  expect(made.status).toBe(201);
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await eventually(async () => (await server.request('GET', path)).status === 200);
}

test('further servers share threads, continue when others close, and leave none behind', async () => {
  const first = await start();
  const [second, third] = await Promise.all([start(), start()]);
  // The threads of the first server, and those that the others share.
  expect(shared()).toEqual([2, 2]);
  await Promise.all([first, second, third].map((server, i) => useControllers(server, `a${i}`)));
  expect((await third.request('GET', '/api/v1/namespaces/a1')).status).toBe(404);
  await Promise.all([first.close(), second.close()]);
  await useControllers(third, 'b');
  await third.close();
  await eventually(() => running.size === 0);
});
