import { expect, test } from 'vitest';
import { Entry } from '../../core/threads/entries/entry.js';
import { deleteEntries } from '../../workers/front/write/deleteCollection.js';
import { Refusal } from '../../core/model/refusal.js';
import type { JobResult } from '../../core/threads/messages/messages.js';

const entries = Array.from({ length: 1000 }, (_, i) => new Entry(`core/nodes/n${i}`, 1, Buffer.from(`n${i}`)));
const answered = (status: number): JobResult & { is: 'respond' } => ({
  id: 1,
  is: 'respond',
  status,
  headers: [],
  body: Buffer.from(''),
});

/** Deletes the thousand objects; each is removed in a later turn of the event loop. */
async function run(remove: (entry: Entry) => number, isClientGone: (begun: number) => boolean = () => false) {
  let begun = 0;
  const outcome = await deleteEntries(
    entries,
    async entry => {
      begun++;
      await new Promise(resolve => setImmediate(resolve));
      return answered(remove(entry));
    },
    () => isClientGone(begun),
  ).catch((error: Refusal) => error);
  const before = begun;
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve));
  expect(begun).toBe(before);
  return { begun, outcome };
}

test('objects that other requests delete meanwhile are not in the answer to a deletecollection', async () => {
  const { begun, outcome } = await run(entry => (entry.name === 'n3' ? 404 : 200));
  const left = entries.filter(({ name }) => name !== 'n3');
  expect([begun, outcome]).toEqual([1000, { is: 'deleted', entries: left, warnings: [] }]);
});

test('a refused deletion becomes the answer, and ends the deletecollection', async () => {
  const { outcome, begun } = await run(entry => (entry.name === 'n3' ? 403 : 200));
  expect(outcome).toMatchObject({ is: 'refused', refusal: { status: 403 } });
  expect(begun).toBeLessThan(entries.length);
});

test('a failed deletion stops the others: nothing is deleted after the answer', async () => {
  const { outcome, begun } = await run(entry => {
    if (entry.name === 'n3') throw new Refusal('TooManyRequests', 'the server is busy');
    return 200;
  });
  expect(outcome).toBeInstanceOf(Refusal);
  expect(begun).toBeLessThan(entries.length);
});

test('if the client disconnects, no further deletion is started', async () => {
  const { begun } = await run(
    () => 200,
    count => count >= 300,
  );
  expect(begun).toBeLessThan(entries.length);
});
