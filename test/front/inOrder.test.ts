import { expect, test } from 'vitest';
import { inOrder } from '../../workers/front/answers/inOrder.js';
import { turn } from './support.js';

/** Work items that end when the test says so. */
function setUp(count: number) {
  const begun: number[] = [];
  const ends: ((result: number | Error) => void)[] = [];
  const results = inOrder(Array.from({ length: count }).keys(), 2, item => {
    begun.push(item);
    return new Promise<number>((resolve, reject) => {
      ends[item] = result => (result instanceof Error ? reject(result) : resolve(result));
    });
  });
  return { begun, ends, results };
}

test('results are in the order of the items, whichever ends first', async () => {
  const { ends, results } = setUp(3);
  const first = results.next();
  ends[1]!(11);
  ends[0]!(10);
  expect(await first).toEqual({ value: 10, done: false });
  expect(await results.next()).toEqual({ value: 11, done: false });
  ends[2]!(12);
  expect(await results.next()).toEqual({ value: 12, done: false });
  expect((await results.next()).done).toBe(true);
});

test('no further item is started before the consumer requests one, nor after the consumer has ended', async () => {
  const { begun, ends, results } = setUp(10);
  const first = results.next();
  ends[0]!(0);
  ends[1]!(1);
  await first;
  await turn();
  expect(begun).toEqual([0, 1]);
  await results.next();
  expect(begun).toEqual([0, 1, 2]);
  await results.return(undefined);
  ends[2]!(2);
  await turn();
  expect(begun).toEqual([0, 1, 2]);
});

test('an error is thrown at its position, and later ones are not reported as unhandled', async () => {
  const { ends, results } = setUp(3);
  const first = results.next();
  ends[1]!(new Error('second'));
  await turn();
  ends[0]!(0);
  expect((await first).value).toBe(0);
  await expect(results.next()).rejects.toThrow('second');
});
