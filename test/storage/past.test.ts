import { expect, it } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import { PAST_EVENTS_BYTES } from '../../core/limits.js';
import { openMemory } from '../../plugins/storage/memory.js';
import type { Past } from '../../workers/writer/past.js';
import { readHistory } from '../../workers/writer/queries.js';
import { SharedHistory } from '../../workers/writer/sharedHistory.js';

/* Past changes are read in parts, each with all changes of a revision, whatever their size. */

const VALUE_BYTES = 64 * 1024;
const TRANSACTIONS = 120;

const put = (key: string): StoreOperation => ({ is: 'put', key, value: Buffer.alloc(VALUE_BYTES) });

/** A store with transactions that change three keys each, 22 MB of values and as much of previous ones. */
async function filled() {
  const store = await openMemory();
  for (let i = 0; i < TRANSACTIONS; i++) await store.commit([[put('a/1'), put('a/2'), put('b/1')]]);
  return store;
}

/** The revisions and bytes of events. */
const summary = (events: readonly { revision: number; value?: Uint8Array; previous?: unknown }[]) => ({
  revisions: events.map(({ revision }) => revision),
  bytes: events.reduce((sum, { value }) => sum + (value?.length ?? 0) * 2, 0),
});

const twice = Array.from({ length: TRANSACTIONS }, (_, i) => [i + 1, i + 1]).flat();

it('a watch of a store delivers few large events at once', async () => {
  const store = await filled();
  const deliveries: ReturnType<typeof summary>[] = [];
  const end = new AbortController();
  await store.watch(
    'a/',
    0,
    (events, revision) => {
      deliveries.push(summary(events));
      if (revision === TRANSACTIONS) end.abort();
    },
    end.signal,
  );
  expect(deliveries.flatMap(({ revisions }) => revisions)).toEqual(twice);
  for (const { revisions, bytes } of deliveries) {
    expect(revisions.filter(revision => revision === revisions.at(-1)).length).toBe(2);
    expect(bytes).toBeLessThanOrEqual(40 * 2 * VALUE_BYTES);
  }
  await store.close();
});

it('the writer returns past changes in parts', async () => {
  const store = await filled();
  const parts: { revisions: number[]; bytes: number }[] = [];
  const to = TRANSACTIONS - 1;
  for (let from = 0; from < to; ) {
    const answer = await readHistory(store, undefined, { is: 'history', requestId: 1, prefix: 'a/', from, to });
    if (answer.is !== 'past') throw new Error(answer.is);
    parts.push(summary(answer.events));
    expect(answer.revision).toBeGreaterThan(from);
    from = answer.revision;
  }
  expect(parts.flatMap(({ revisions }) => revisions)).toEqual(twice.slice(0, -2));
  for (const { bytes } of parts) expect(bytes).toBeLessThan(PAST_EVENTS_BYTES + 40 * 2 * VALUE_BYTES);
  await store.close();
});

it('watches that resume together share reads, and each gets all of its changes in parts', async () => {
  const store = await filled();
  const history = new SharedHistory(store);
  const readAll = async (prefix: string, first: number, to: number) => {
    const seen: number[] = [];
    for (let from = first; from < to; ) {
      const past: Past = await history.read({ prefix, from, to });
      const { revisions, bytes } = summary(past.events);
      expect(bytes).toBeLessThan(PAST_EVENTS_BYTES + 40 * 2 * VALUE_BYTES);
      seen.push(...revisions);
      from = past.revision;
    }
    return seen;
  };
  const [early, late, other, none] = await Promise.all([
    readAll('a/', 0, TRANSACTIONS),
    readAll('a/', TRANSACTIONS - 1, TRANSACTIONS),
    readAll('b/', 100, TRANSACTIONS - 10),
    readAll('c/', 0, TRANSACTIONS),
  ]);
  expect(early).toEqual(twice);
  expect(late).toEqual([TRANSACTIONS, TRANSACTIONS]);
  expect(other).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
  expect(none).toEqual([]);
  await store.close();
});

it('a watch that resumes late does not wait for those that have more to read', async () => {
  const store = await filled();
  const history = new SharedHistory(store);
  const early = { prefix: 'a/', from: 0, to: TRANSACTIONS };
  let isAnswered = false;
  // During this read, others gather.
  void history.read(early);
  const late = history.read({ prefix: 'a/', from: TRANSACTIONS - 1, to: TRANSACTIONS }).then(past => {
    isAnswered = true;
    return past;
  });
  for (let i = 0; i < 5 && !isAnswered; i++) await history.read(early);
  expect(isAnswered).toBe(true);
  expect(summary((await late).events).revisions).toEqual([TRANSACTIONS, TRANSACTIONS]);
  await store.close();
});
