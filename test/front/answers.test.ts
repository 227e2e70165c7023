import { expect, test } from 'vitest';
import { IDENTITY_ANSWER_BYTES, LONG_ANSWER_BYTES, UNKNOWN_ANSWER_BYTES } from '../../core/limits.js';
import { Answers, heldBytes } from '../../workers/front/answers/answers.js';
import { Usages } from '../../workers/front/fairness/usage.js';

/** Answers of one megabyte that last until `end` is called. */
function longAnswers(answers: Answers) {
  const ends: (() => void)[] = [];
  return {
    start: (usages: Usages, user: string): Promise<void> =>
      answers.run(usages.of(user), LONG_ANSWER_BYTES, () => new Promise(resolve => ends.push(resolve))),
    endOne: () => ends.shift()!(),
    get running() {
      return ends.length;
    },
  };
}

test('a user whose answers hold too much memory gets 429 until an answer has ended; other users do not', async () => {
  const usages = new Usages();
  const long = longAnswers(new Answers());
  const all: Promise<void>[] = [];
  for (let i = 0; i < IDENTITY_ANSWER_BYTES / LONG_ANSWER_BYTES; i++) all.push(long.start(usages, 'ann'));
  await expect(long.start(usages, 'ann')).rejects.toMatchObject({ reason: 'TooManyRequests' });
  all.push(long.start(usages, 'bob'));
  long.endOne();
  await all[0];
  all.push(long.start(usages, 'ann'));
  while (long.running > 0) long.endOne();
  await Promise.all(all);
  expect([usages.of('ann').used('answerBytes'), usages.of('bob').used('answerBytes')]).toEqual([0, 0]);
});

test('senders without credentials share one small limit', async () => {
  const usages = new Usages();
  const long = longAnswers(new Answers());
  for (let i = 0; i < UNKNOWN_ANSWER_BYTES / LONG_ANSWER_BYTES; i++) void long.start(usages, 'system:anonymous');
  await expect(long.start(usages, 'system:anonymous')).rejects.toMatchObject({ reason: 'TooManyRequests' });
});

test('all users together are limited, and a refused answer is not counted', async () => {
  const usages = new Usages();
  const answers = new Answers(100);
  let end: () => void = () => undefined;
  const first = answers.run(usages.of('ann'), 60, () => new Promise(resolve => (end = resolve)));
  await expect(answers.run(usages.of('bob'), 60, async () => undefined)).rejects.toMatchObject({ code: 429 });
  expect(usages.of('bob').used('answerBytes')).toBe(0);
  end();
  await first;
  const failed = answers.run(usages.of('bob'), 60, () => Promise.reject(new Error('gone')));
  await expect(failed).rejects.toThrow('gone');
  await answers.run(usages.of('bob'), 100, async () => undefined);
});

test('a long answer counts the memory that it holds, a short one its length', () => {
  expect(heldBytes([{ length: 10 }, { length: 20 }])).toBe(30);
  expect(heldBytes(new Array(1000).fill({ length: 10_000 }))).toBe(LONG_ANSWER_BYTES);
});
