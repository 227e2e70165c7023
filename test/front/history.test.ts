import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Entry } from '../../core/threads/entries/entry.js';
import { type Change, Collection } from '../../workers/front/state/collection.js';
import { History } from '../../workers/front/state/history.js';
import { countKept } from '../support/garbage.js';

const change = (revision: number, collection: Collection): Change => ({ revision, collection, encodings: undefined });

test('the history returns the changes of a collection above a revision, and those of a revision, in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.boolean())),
      fc.nat(20),
      fc.nat(20),
      fc.nat(4),
      (steps, from, to, most) => {
        const [mine, other] = [new Collection('a', new Map()), new Collection('b', new Map())];
        const history = new History(0, 1000);
        let revision = 0;
        const changes = steps.map(([step, isMine]) => change((revision += step), isMine ? mine : other));
        for (const one of changes) history.add(one, 0);
        const wanted = changes.filter(one => one.collection === mine && one.revision > from && one.revision <= to);
        const found: Change[] = [];
        for (let at = from; at < to; ) {
          const part = history.between(at, to, mine, most + 1);
          expect(part.reached).toBeGreaterThan(at);
          expect(part.changes.filter(one => one.revision < part.changes.at(-1)!.revision).length).toBeLessThanOrEqual(
            most,
          );
          found.push(...part.changes);
          at = part.reached;
        }
        expect(found).toEqual(wanted);
        expect(history.at(from)).toEqual(changes.filter(one => one.revision === from));
        expect(history.floor).toBe(0);
      },
    ),
  );
});

test('changes older than the history are removed, up to the floor', () => {
  const collection = new Collection('a', new Map());
  const history = new History(0, 10);
  for (let i = 1; i <= 5000; i++) history.add(change(i, collection), i);
  expect(history.floor).toBe(4989);
  expect(history.between(history.floor, 5000, collection, 100).changes.map(one => one.revision)).toEqual(
    Array.from({ length: 11 }, (_, i) => 4990 + i),
  );
});

test('changes that are removed are freed, also large ones of which there are few', async () => {
  const collection = new Collection('a', new Map());
  const history = new History(0, 1000);
  const bytes = { buffer: new SharedArrayBuffer(0), byteOffset: 0, length: 1024 * 1024 };
  const added: WeakRef<object>[] = [];
  for (let i = 1; i <= 500; i++) {
    const one: Change = { ...change(i, collection), before: new Entry('a/b', i, bytes) };
    added.push(new WeakRef(one));
    history.add(one, 0);
  }
  const kept = await countKept(added);
  expect(history.floor).toBe(500 - kept);
  expect(kept).toBeLessThanOrEqual(128);
});
