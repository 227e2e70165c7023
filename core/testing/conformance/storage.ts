import {
  Compacted,
  FutureRevision,
  type Outcome,
  type Storage,
  type StoreEvent,
  type StoreOperation,
  type Transaction,
} from '../../api/index.js';
import { expect } from '../expect.js';
import { type ConformanceTest, suite } from '../suite.js';

/** A store under test. After `close`, `open` opens the same data again. */
export interface StorageFixture {
  open(): Promise<Storage>;
  dispose(): Promise<void>;
}

const bytes = (text: string) => Buffer.from(text);
const text = (value?: Uint8Array) => (value ? Buffer.from(value).toString() : undefined);
const put = (key: string, value: string, expect?: number): StoreOperation => ({
  is: 'put',
  key,
  value: bytes(value),
  expect,
});
const remove = (key: string, expect?: number): StoreOperation => ({ is: 'delete', key, expect });

/** Commits one transaction that must succeed, and returns its revision. */
export async function committed(store: Storage, ...transaction: Transaction): Promise<number> {
  const [outcome] = await store.commit([transaction]);
  if (outcome?.is !== 'committed') throw new Error(`not committed: ${JSON.stringify(outcome)}`);
  return outcome.revision;
}

/** The first `count` events under `prefix` after `from`. */
async function events(store: Storage, prefix: string, from: number | undefined, count: number): Promise<StoreEvent[]> {
  const end = new AbortController();
  const seen: StoreEvent[] = [];
  await store.watch(
    prefix,
    from,
    batch => {
      seen.push(...batch);
      if (seen.length >= count) end.abort();
    },
    end.signal,
  );
  return seen;
}

const kinds = (outcomes: readonly Outcome[]) => outcomes.map(outcome => outcome.is);
const formatItems = (items: readonly { key: string; value: Uint8Array }[]) =>
  items.map(({ key, value }) => `${key}=${text(value)}`);

/**
 * Returns the tests that every store must pass. `make` creates empty stores.
 *
 * @example
 * const make = async () => ({ open: () => openStore(path), dispose: () => rm(path, { recursive: true }) });
 * for (const { name, run } of storageConformance(make)) test(name, run);
 */
export function storageConformance(make: () => Promise<StorageFixture>): readonly ConformanceTest[] {
  return suite(({ describe, it, beforeEach, afterEach }) => {
    let fixture: StorageFixture;
    let store: Storage;
    /** The revision of the empty store. */
    let base: number;

    beforeEach(async () => {
      fixture = await make();
      store = await fixture.open();
      base = await store.revision();
    });
    afterEach(async () => {
      await store.close();
      await fixture.dispose();
    });

    describe('transactions', () => {
      it('creates only if the key is absent, and returns the current state otherwise', async () => {
        const created = await committed(store, put('a', '1', 0));
        expect(created).toBe(base + 1);
        const [second] = await store.commit([[put('a', '2', 0)]]);
        expect(second).toMatchObject({
          is: 'failed',
          index: 0,
          current: { key: 'a', created, modified: created, version: 1 },
        });
        expect(second?.is === 'failed' && text(second.current?.value)).toBe('1');
        expect(await store.revision()).toBe(created);
      });

      it('updates only at the expected revision, and counts versions', async () => {
        const first = await committed(store, put('a', '1'));
        const second = await committed(store, put('a', '2', first));
        expect(kinds(await store.commit([[put('a', '3', first)]]))).toEqual(['failed']);
        expect(await store.get('a')).toMatchObject({ created: first, modified: second, version: 2 });
        expect(text((await store.get('a'))?.value)).toBe('2');
      });

      it('deletes under a precondition, and a new object begins at version 1', async () => {
        const first = await committed(store, put('a', '1'));
        expect(kinds(await store.commit([[remove('a', first + 7)]]))).toEqual(['failed']);
        const deleted = await committed(store, remove('a', first));
        expect(deleted).toBe(first + 1);
        expect(await store.get('a')).toBeUndefined();
        expect(kinds(await store.commit([[remove('a', first)]]))).toEqual(['failed']);
        const again = await committed(store, put('a', '2', 0));
        expect(await store.get('a')).toMatchObject({ created: again, modified: again, version: 1 });
      });

      it('assigns no revision to the deletion of an absent key', async () => {
        const revision = await committed(store, put('a', '1'));
        const [outcome] = await store.commit([[remove('absent')]]);
        expect(outcome).toMatchObject({ is: 'committed', revision, events: [] });
        expect(await committed(store, put('b', '1'))).toBe(revision + 1);
      });

      it('applies several operations at one revision, or none', async () => {
        const first = await committed(store, put('a', '1'), put('b', '1'));
        const [outcome] = await store.commit([[put('a', '2', first), put('b', '2', 0), put('c', '2')]]);
        expect(outcome).toMatchObject({ is: 'failed', index: 1, current: { key: 'b' } });
        expect(formatItems((await store.range('')).items)).toEqual(['a=1', 'b=1']);
        const second = await committed(store, put('a', '2', first), remove('b', first), put('c', '2', 0));
        const page = await store.range('');
        expect(formatItems(page.items)).toEqual(['a=2', 'c=2']);
        expect(page.items.map(item => item.modified)).toEqual([second, second]);
      });

      it('refuses two operations on one key', async () => {
        expect(kinds(await store.commit([[put('a', '1'), put('a', '2')]]))).toEqual(['error']);
        expect(await store.get('a')).toBeUndefined();
      });

      it('lets later transactions of a group see earlier ones', async () => {
        const outcomes = await store.commit([[put('a', '1', 0)], [put('a', '2', 0)], [put('a', '3', base + 1)]]);
        expect(kinds(outcomes)).toEqual(['committed', 'failed', 'committed']);
        expect(outcomes.flatMap(outcome => (outcome.is === 'committed' ? [outcome.revision] : []))).toEqual([
          base + 1,
          base + 2,
        ]);
        expect(outcomes[1]?.is === 'failed' && text(outcomes[1].current?.value)).toBe('1');
      });

      it('writes the revision into the gap of a value', async () => {
        const value = bytes('{"resourceVersion":""}');
        const [outcome] = await store.commit([[{ is: 'put', key: 'a', value, gap: 20 }]]);
        const expected = `{"resourceVersion":"${base + 1}"}`;
        expect(text((await store.get('a'))?.value)).toBe(expected);
        expect(outcome?.is === 'committed' && text(outcome.events[0]?.value)).toBe(expected);
        expect(formatItems((await store.range('a')).items)).toEqual([`a=${expected}`]);
        expect((await events(store, '', base, 1)).map(event => text(event.value))).toEqual([expected]);
      });

      it('keeps empty values', async () => {
        await committed(store, put('a', ''));
        expect((await store.get('a'))?.value.length).toBe(0);
      });

      it('gives concurrent committers contiguous, distinct revisions', async () => {
        const outcomes = (
          await Promise.all(Array.from({ length: 200 }, (_, i) => store.commit([[put(`k${i}`, 'v', 0)]])))
        ).flat();
        const revisions = outcomes
          .map(outcome => (outcome.is === 'committed' ? outcome.revision : -1))
          .sort((a, b) => a - b);
        expect(revisions).toEqual(Array.from({ length: 200 }, (_, i) => base + 1 + i));
      });

      it('lets exactly one of several racing updates win', async () => {
        const first = await committed(store, put('a', '0'));
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, i) => store.commit([[put('a', String(i), first)]])),
        );
        expect(kinds(outcomes.flat()).filter(kind => kind === 'committed')).toHaveLength(1);
        expect(kinds(outcomes.flat()).filter(kind => kind === 'failed')).toHaveLength(19);
      });

      it('makes a write visible to reads once it is acknowledged', async () => {
        for (let i = 0; i < 20; i++) {
          const revision = await committed(store, put('a', String(i)));
          expect(await store.revision()).toBeGreaterThanOrEqual(revision);
          expect(text((await store.get('a'))?.value)).toBe(String(i));
        }
      });
    });

    describe('ranges', () => {
      it('pages through a prefix in key order with the number of keys that remain', async () => {
        await committed(store, ...['p/3', 'p/1', 'p/5', 'p/2', 'p/4', 'q/1', 'o/9'].map(key => put(key, key)));
        const first = await store.range('p/', { limit: 2 });
        expect(formatItems(first.items)).toEqual(['p/1=p/1', 'p/2=p/2']);
        expect(first).toMatchObject({ more: true, remaining: 3, revision: base + 1 });
        const uncounted = await store.range('p/', { limit: 2, counted: false });
        expect(uncounted).toMatchObject({ items: first.items, more: true, revision: base + 1 });
        expect(uncounted.remaining).toBeGreaterThan(0);
        const second = await store.range('p/', { limit: 3, after: 'p/2', revision: first.revision });
        expect(formatItems(second.items)).toEqual(['p/3=p/3', 'p/4=p/4', 'p/5=p/5']);
        expect(second).toMatchObject({ more: false, remaining: 0 });
        expect((await store.range('p/', { after: 'p/5' })).items).toEqual([]);
        expect((await store.range('absent/')).items).toEqual([]);
      });

      it('reads an earlier revision [R237]', async () => {
        const first = await committed(store, put('a', '1'), put('b', '1'));
        const second = await committed(store, put('a', '2'));
        const third = await committed(store, remove('b'));
        const fourth = await committed(store, put('b', '4'), put('c', '4'));
        const at = async (revision: number) => formatItems((await store.range('', { revision })).items);
        expect(await at(first)).toEqual(['a=1', 'b=1']);
        expect(await at(second)).toEqual(['a=2', 'b=1']);
        expect(await at(third)).toEqual(['a=2']);
        expect(await at(fourth)).toEqual(['a=2', 'b=4', 'c=4']);
        expect(text((await store.get('a', first))?.value)).toBe('1');
        expect(await store.get('b', third)).toBeUndefined();
        expect(await store.get('c', third)).toBeUndefined();
      });

      it('keeps the pages of a revision stable while others write [R240]', async () => {
        const keys = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(3, '0')}`);
        const revision = await committed(store, ...keys.map(key => put(key, 'old')));
        const seen: string[] = [];
        let after: string | undefined;
        do {
          await Promise.all([
            committed(store, put(keys[Math.min(59, seen.length + 3)]!, 'new')),
            committed(store, remove(keys[Math.min(59, seen.length + 7)]!)),
            committed(store, put(`${keys[seen.length]}x`, 'new')),
          ]);
          const page = await store.range('k', { limit: 7, after, revision });
          expect(page.remaining).toBe(60 - seen.length - page.items.length);
          seen.push(...formatItems(page.items));
          after = page.more ? page.items.at(-1)!.key : undefined;
        } while (after);
        expect(seen).toEqual(keys.map(key => `${key}=old`));
      });

      it('distinguishes keys that are prefixes of each other or contain unusual characters', async () => {
        const keys = [
          'a',
          'a\0',
          'a\0\0',
          'a\0b',
          'a/',
          'a/b',
          'a0',
          'ab',
          'a\u00ff',
          'a\uffff',
          'a\u{10ffff}',
          'b',
          `c${'x'.repeat(2000)}`,
        ];
        await committed(store, ...keys.toReversed().map(key => put(key, `<${key.length}>`)));
        expect((await store.range('')).items.map(item => item.key)).toEqual(keys);
        expect((await store.range('a')).items.map(item => item.key)).toEqual(keys.slice(0, 11));
        expect((await store.range('a\0')).items.map(item => item.key)).toEqual(keys.slice(1, 4));
        expect((await store.range('a/')).items.map(item => item.key)).toEqual(['a/', 'a/b']);
        expect((await store.range('a\u{10ffff}')).items.map(item => item.key)).toEqual(['a\u{10ffff}']);
        expect((await store.range('a', { after: 'a\0\0', limit: 1 })).items.map(item => item.key)).toEqual(['a\0b']);
        await committed(store, put('a\0', 'changed'));
        for (const key of keys)
          expect(text((await store.get(key))?.value)).toBe(key === 'a\0' ? 'changed' : `<${key.length}>`);
      });

      it('refuses future revisions', async () => {
        await committed(store, put('a', '1'));
        await expect(store.range('', { revision: base + 100 })).rejects.toThrow(FutureRevision);
        await expect(store.get('a', base + 100)).rejects.toThrow(FutureRevision);
      });

      it('stops when it is cancelled', async () => {
        await committed(store, put('a', '1'));
        await expect(store.range('', { signal: AbortSignal.abort() })).rejects.toThrow();
      });
    });

    describe('watches', () => {
      it('replays from a revision, with previous values', async () => {
        const first = await committed(store, put('a', '1'));
        const second = await committed(store, put('a', '2'), put('x', 'other'));
        const third = await committed(store, remove('a'));
        const seen = await events(store, 'a', first, 2);
        expect(seen).toMatchObject([
          { type: 'put', key: 'a', revision: second, created: first, version: 2, previous: { modified: first } },
          { type: 'delete', key: 'a', revision: third, previous: { modified: second } },
        ]);
        expect(seen.map(event => text(event.previous?.value))).toEqual(['1', '2']);
        expect(seen.map(event => text(event.value))).toEqual(['2', undefined]);
        expect((await events(store, '', base, 4)).map(event => event.revision)).toEqual([first, second, second, third]);
      });

      it('continues with new events after the replay, in order, without gaps or duplicates [R247]', async () => {
        for (let i = 0; i < 10; i++) await committed(store, put(`k${i}`, String(i)));
        const watching = events(store, '', base, 300);
        await Promise.all(Array.from({ length: 290 }, (_, i) => committed(store, put(`k${i % 17}`, String(i)))));
        const seen = await watching;
        expect(seen.map(event => event.revision)).toEqual(Array.from({ length: 300 }, (_, i) => base + 1 + i));
      });

      it('delivers all events of a transaction together', async () => {
        const end = new AbortController();
        const sizes: number[] = [];
        const watching = store.watch(
          '',
          base,
          batch => {
            const revisions = new Map<number, number>();
            for (const event of batch) revisions.set(event.revision, (revisions.get(event.revision) ?? 0) + 1);
            sizes.push(...revisions.values());
            if (sizes.length >= 20) end.abort();
          },
          end.signal,
        );
        for (let i = 0; i < 20; i++)
          await committed(store, ...Array.from({ length: 20 }, (_, j) => put(`k${j}`, String(i))));
        await watching;
        expect(sizes).toEqual(Array.from({ length: 20 }, () => 20));
      });

      it('begins at the current revision if none is given', async () => {
        await committed(store, put('a', '1'));
        const watching = events(store, '', undefined, 1);
        await store.get('a');
        // A watch may need a round trip to start, so this writes until it has received an event.
        let done = false;
        const seen = watching.then(all => {
          done = true;
          return all;
        });
        while (!done) await committed(store, put('b', '2'));
        expect((await seen)[0]?.key).toBe('b');
      });

      it('reports progress if nothing happens under its prefix', async () => {
        const end = new AbortController();
        const goal = await committed(store, put('other', '1'));
        const watching = store.watch(
          'nothing/',
          base,
          (batch, revision) => {
            expect(batch).toEqual([]);
            if (revision >= goal) end.abort();
          },
          end.signal,
        );
        await watching;
        expect(end.signal.aborted).toBe(true);
      });

      it('ends when it is cancelled, also while it waits', async () => {
        const end = new AbortController();
        const watching = store.watch('', undefined, () => {}, end.signal);
        end.abort();
        await watching;
      });
    });

    describe('compaction', () => {
      it('removes history before a revision, keeps the rest, and reports the compacted revision [R238]', async () => {
        const first = await committed(store, put('a', '1'), put('gone', '1'));
        await committed(store, put('a', '2'), remove('gone'));
        const third = await committed(store, put('b', '3'));
        const fourth = await committed(store, put('a', '4'));
        await store.compact(third);
        expect(store.compactedRevision()).toBe(third);
        await expect(store.range('', { revision: first })).rejects.toMatchObject({ compactedRevision: third });
        await expect(store.range('', { revision: first })).rejects.toThrow(Compacted);
        await expect(store.get('a', first)).rejects.toThrow(Compacted);
        await expect(store.watch('', first, () => {}, new AbortController().signal)).rejects.toMatchObject({
          compactedRevision: third,
        });
        expect(formatItems((await store.range('', { revision: third })).items)).toEqual(['a=2', 'b=3']);
        expect(formatItems((await store.range('')).items)).toEqual(['a=4', 'b=3']);
        const [event] = await events(store, '', third, 1);
        expect(event).toMatchObject({ key: 'a', revision: fourth });
        expect(text(event?.previous?.value)).toBe('2');
      });

      it('refuses to compact the future', async () => {
        await expect(store.compact(base + 100)).rejects.toThrow(FutureRevision);
      });

      it('does not delay commits', async () => {
        for (let i = 0; i < 30; i++) {
          await store.commit(Array.from({ length: 100 }, (_, j) => [put(`k${j}`, `${i}`)]));
        }
        const revision = await store.revision();
        const compacting = store.compact(revision);
        await Promise.all(Array.from({ length: 50 }, (_, i) => committed(store, put(`n${i}`, 'new'))));
        await compacting;
        const page = await store.range('k', { revision });
        expect(new Set(formatItems(page.items).map(item => item.split('=')[1]))).toEqual(new Set(['29']));
        expect(page.items).toHaveLength(100);
      });
    });

    describe('life', () => {
      it('can be reopened with its objects, history and revision', async () => {
        const first = await committed(store, put('a', '1'), put('b', '1'));
        const second = await committed(store, put('a', '2'), remove('b'));
        await store.close();
        store = await fixture.open();
        expect(await store.revision()).toBe(second);
        expect(formatItems((await store.range('')).items)).toEqual(['a=2']);
        expect(formatItems((await store.range('', { revision: first })).items)).toEqual(['a=1', 'b=1']);
        expect(await store.get('a')).toMatchObject({ created: first, modified: second, version: 2 });
        const seen = await events(store, '', base, 4);
        expect(seen.map(event => text(event.previous?.value))).toEqual([undefined, undefined, '1', '1']);
        expect(await committed(store, put('b', '3', 0))).toBe(second + 1);
      });

      it('can be reopened after a compaction, and never assigns a revision twice', async () => {
        await committed(store, put('a', '1'));
        const last = await committed(store, remove('a'));
        await store.compact(last);
        await store.close();
        store = await fixture.open();
        expect(await store.revision()).toBe(last);
        expect((await store.range('')).items).toEqual([]);
        expect(await committed(store, put('a', '2', 0))).toBe(last + 1);
      });

      it('has a check that reads from it', async () => {
        await store.check();
      });
    });
  });
}
