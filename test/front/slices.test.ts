import { expect, onTestFinished, test, vi } from 'vitest';
import { SLICE_MS } from '../../core/limits.js';
import { Slices } from '../../workers/front/fairness/slices.js';

const items = Array.from({ length: 200 }, (_, i) => i);
const spin = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};
/** Counts turns of the event loop until it is stopped. */
function turns() {
  let count = 0;
  let stopped = false;
  const next = (): void => {
    count++;
    if (!stopped) setImmediate(next);
  };
  setImmediate(next);
  return { count: () => count, stop: () => (stopped = true) };
}

test('a short computation is done immediately', () => {
  // No time passes, even if another program takes the core meanwhile.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const seen: number[] = [];
  void new Slices().forEach(items, item => seen.push(item) > 0);
  expect(seen).toEqual(items);
});

test('a long computation yields to others, and visits all items in order', async () => {
  const loop = turns();
  const seen: number[] = [];
  await new Slices().forEach(
    items,
    item => {
      spin(SLICE_MS / 10);
      return seen.push(item) > 0;
    },
    () => 16,
  );
  loop.stop();
  expect(seen).toEqual(items);
  expect(loop.count()).toBeGreaterThan(10);
});

test('many long computations share one slice of a turn, and all of them proceed', async () => {
  const slices = new Slices();
  const loop = turns();
  const byTurn = new Map<number, string[]>();
  const visit = SLICE_MS / 20;
  const compute = (name: string) =>
    slices.forEach(
      items,
      () => {
        spin(visit);
        byTurn.set(loop.count(), [...(byTurn.get(loop.count()) ?? []), name]);
        return true;
      },
      () => 16,
    );
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  await Promise.all(names.map(compute));
  loop.stop();
  for (const visits of byTurn.values()) expect(visits.length * visit).toBeLessThanOrEqual(1.5 * SLICE_MS);
  const early = [...byTurn.values()].slice(0, 10).flat();
  expect(new Set(early)).toEqual(new Set(names));
});

test('an error in a visit rejects its computation, and no other', async () => {
  const slices = new Slices();
  const slow = slices.forEach(items, () => {
    spin(SLICE_MS / 10);
    return true;
  });
  const broken = slices.forEach(items, () => {
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  await slow;
});

test('a visit that returns false is the last', async () => {
  const seen: number[] = [];
  await new Slices().forEach(items, item => seen.push(item) < 3);
  expect(seen).toEqual([0, 1, 2]);
});

test('filter keeps the selected items in order', async () => {
  const kept = await new Slices().filter(
    items,
    item => item % 50 === 0,
    () => 16,
  );
  expect(kept).toEqual([0, 50, 100, 150]);
});
