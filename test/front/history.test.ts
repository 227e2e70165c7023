import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Change, Collection } from '../../workers/front/state/collection.js';
import { History } from '../../workers/front/state/history.js';

const change = (revision: number, collection: Collection): Change => ({ revision, collection, encodings: undefined });

test('the history returns the changes of a collection above a revision, and those of a revision, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.boolean())), fc.nat(20), (steps, from) => {
      const [mine, other] = [new Collection('a', new Map()), new Collection('b', new Map())];
      const history = new History(0, 1000);
      let revision = 0;
      const changes = steps.map(([step, isMine]) => change((revision += step), isMine ? mine : other));
      for (const one of changes) history.add(one, 0);
      expect(history.after(from, mine)).toEqual(changes.filter(one => one.revision > from && one.collection === mine));
      expect(history.at(from)).toEqual(changes.filter(one => one.revision === from));
      expect(history.floor).toBe(0);
    }),
  );
});

test('changes older than the history are removed, up to the floor', () => {
  const collection = new Collection('a', new Map());
  const history = new History(0, 10);
  for (let i = 1; i <= 5000; i++) history.add(change(i, collection), i);
  expect(history.floor).toBe(4989);
  expect(history.after(history.floor, collection).map(one => one.revision)).toEqual(
    Array.from({ length: 11 }, (_, i) => 4990 + i),
  );
});
