import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from '../../workers/front/fairness/deadlines.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('each deadline fires after its time has passed', () => {
  const deadlines = new Deadlines(1000);
  const expired: string[] = [];
  deadlines.set(() => expired.push('first'));
  vi.advanceTimersByTime(400);
  deadlines.set(() => expired.push('second'));
  vi.advanceTimersByTime(599);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['first']);
  vi.advanceTimersByTime(399);
  expect(expired).toEqual(['first']);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['first', 'second']);
});

test('a cleared deadline does not fire, and later ones fire in time', () => {
  const deadlines = new Deadlines(1000);
  const expired: string[] = [];
  const cleared = deadlines.set(() => expired.push('cleared'));
  vi.advanceTimersByTime(10);
  deadlines.set(() => expired.push('kept'));
  deadlines.clear(cleared);
  vi.advanceTimersByTime(999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['kept']);
});

test('any number of deadlines needs one timer, and without deadlines there is none', () => {
  const deadlines = new Deadlines(1000);
  for (let i = 0; i < 100; i++) deadlines.clear(deadlines.set(() => undefined));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
  const expired = vi.fn();
  deadlines.set(expired);
  vi.advanceTimersByTime(1000);
  expect(expired).toHaveBeenCalledOnce();
});
