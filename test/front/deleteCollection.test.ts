import { expect, test } from 'vitest';
import type { Exchange } from '../../core/api/listener.js';
import { Entry } from '../../core/threads/entry.js';
import { deleteCollection } from '../../workers/front/deleteCollection.js';
import type { Route } from '../../core/request/route.js';
import { Refusal } from '../../core/model/refusal.js';
import type { JobResult } from '../../core/threads/messages.js';

const route = { resource: { namespaced: false }, target: { is: 'resource' } } as unknown as Route;
const entries = Array.from({ length: 1000 }, (_, i) => new Entry(`core/nodes/n${i}`, 1, Buffer.from(`n${i}`)));
const answered = (status: number): JobResult & { is: 'respond' } => ({
  id: 1,
  is: 'respond',
  status,
  headers: [],
  body: Buffer.from(''),
});

/** Runs a deletion of the thousand; each is removed in a later turn. */
async function run(remove: (entry: Entry) => number) {
  const seen = { begun: 0, status: 0, listed: 0 };
  const exchange = {
    path: '/api/v1/nodes',
    respond: (status: number) => (seen.status = status),
  } as unknown as Exchange;
  const outcome = await deleteCollection(
    { revision: 7, entries },
    exchange,
    route,
    async (path, entry) => {
      expect(path).toBe(`/api/v1/nodes/${entry.name}`);
      seen.begun++;
      await new Promise(resolve => setImmediate(resolve));
      return answered(remove(entry));
    },
    async objects => void (seen.listed = objects.length),
  ).catch((error: Refusal) => error);
  const { begun } = seen;
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve));
  expect(seen.begun).toBe(begun);
  return { ...seen, outcome };
}

test('what is gone meanwhile is not in the list that a deletecollection answers with', async () => {
  expect(await run(entry => (entry.name === 'n3' ? 404 : 200))).toMatchObject({ begun: 1000, listed: 999 });
});

test('a refused deletion becomes the answer, and no further one is begun', async () => {
  const { status, begun } = await run(entry => (entry.name === 'n3' ? 403 : 200));
  expect(status).toBe(403);
  expect(begun).toBeLessThan(entries.length);
});

test('a deletion that fails ends the others too: nothing is deleted after the answer', async () => {
  const { outcome, begun } = await run(entry => {
    if (entry.name === 'n3') throw new Refusal('TooManyRequests', 'the server is busy');
    return 200;
  });
  expect(outcome).toBeInstanceOf(Refusal);
  expect(begun).toBeLessThan(entries.length);
});
