import { expect, test } from 'vitest';
import { FairLimiter } from '../../workers/front/fairness/fairLimiter.js';
import { turn } from './support.js';

/** Functions that end when the test says so, and the order in which they began. */
function setUp(limit: number) {
  const limiter = new FairLimiter(limit);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const run = (owner: object, name: string): Promise<string> =>
    limiter.run(owner, async () => {
      began.push(name);
      await new Promise<void>(resolve => ends.push(resolve));
      return name;
    });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await turn();
    await turn();
  };
  return { limiter, began, run, endOne };
}

test('as many functions as allowed run at once, the others wait', async () => {
  const { began, run, endOne } = setUp(2);
  const owner = {};
  const results = ['a', 'b', 'c'].map(name => run(owner, name));
  await turn();
  expect(began).toEqual(['a', 'b']);
  for (let i = 0; i < 3; i++) await endOne();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
});

test('an owner with many waiting functions delays only its own functions', async () => {
  const { began, run, endOne } = setUp(1);
  const [many, one] = [{}, {}];
  for (let i = 0; i < 5; i++) void run(many, `many-${i}`);
  void run(one, 'one');
  for (let i = 0; i < 6; i++) await endOne();
  expect(began).toEqual(['many-0', 'many-1', 'one', 'many-2', 'many-3', 'many-4']);
});

test('a function that throws gives its place to the next one', async () => {
  const { limiter, began, run, endOne } = setUp(1);
  const failed = limiter.run({}, () => Promise.reject(new Error('broken')));
  void run({}, 'next');
  await expect(failed).rejects.toThrow('broken');
  await endOne();
  expect(began).toEqual(['next']);
  await endOne();
  void run({}, 'later');
  expect(began).toEqual(['next', 'later']);
});
