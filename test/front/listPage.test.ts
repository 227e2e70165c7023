import { expect, test, vi } from 'vitest';
import { Collection } from '../../workers/front/state/collection.js';
import { currentPage } from '../../workers/front/reads/listPage.js';
import type { Selection } from '../../workers/front/reads/selection.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { partly } from '../support/values.js';

const PREFIX = 'core/secrets/';
const COUNT = 500;

function filled(): Collection {
  const collection = new Collection('core/secrets', new Map());
  for (let i = 0; i < COUNT; i++) put(collection, `ns/s${String(i).padStart(4, '0')}`, i + 1);
  return collection;
}

const put = (collection: Collection, key: string, revision: number): void =>
  void collection.apply({ key: PREFIX + key, revision, created: 1, value: Buffer.from('{"metadata":{}}') });

/** A selection whose matches take so long that a list needs many slices. */
const slow = (over: Partial<Selection> = {}): Selection => ({
  of: { group: '', resource: 'secrets' },
  prefix: PREFIX,
  scope: PREFIX,
  filtered: true,
  matches(_, entry) {
    for (const until = performance.now() + 0.2; performance.now() < until; );
    return !entry.name.endsWith('7');
  },
  ...over,
});

test('a list that takes many turns shows the collection at the time of the request', async () => {
  const collection = filled();
  const before = collection.entries.range(PREFIX);
  let done = false;
  const listed = currentPage(collection, slow(), new Slices()).finally(() => (done = true));
  let changes = 0;
  while (!done) {
    const name = `ns/s${String(COUNT - 1 - changes).padStart(4, '0')}`;
    if (changes % 2) collection.apply({ key: PREFIX + name, revision: 1000 + changes, created: 1 });
    else put(collection, name, 1000 + changes);
    put(collection, `ns/s${String(COUNT - 1 - changes).padStart(4, '0')}-new`, 2000 + changes++);
    await new Promise(resolve => setImmediate(resolve));
  }
  expect(changes).toBeGreaterThan(5);
  expect((await listed).entries).toEqual(before.filter(entry => !entry.name.endsWith('7')));
});

test('an object that is selected by its key is looked up without visiting others', async () => {
  const collection = filled();
  let matched = 0;
  const one = (key: string): Selection => ({ ...slow(), key, matches: () => ++matched > 0 });
  const names = async (key: string, after?: string) =>
    (await currentPage(collection, one(key), new Slices(), 0, after)).entries.map(entry => entry.name);
  expect(await names(`${PREFIX}ns/s0003`)).toEqual(['s0003']);
  expect(await names(`${PREFIX}ns/none`)).toEqual([]);
  expect(matched).toBe(1);
  expect(await names(`${PREFIX}ns/s0003`, `${PREFIX}ns/s0002`)).toEqual(['s0003']);
  expect(await names(`${PREFIX}ns/s0003`, `${PREFIX}ns/s0003`)).toEqual([]);
});

test('a page that is found among the first objects does not hold references to the others', async () => {
  const collection = filled();
  let held = 0;
  const slices = partly<Slices>({ forEach: async (items: readonly unknown[]) => void (held = items.length) });
  // The slice never ends by time, however slow the machine is.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const first = { ...slow(), matches: () => true };
  const { entries, more } = await currentPage(collection, first, slices, 1);
  clock.mockRestore();
  expect([entries.length, more, held]).toEqual([1, true, 0]);
});
