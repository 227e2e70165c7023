import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FLUSH_PAUSE_MS, FLUSH_SLICE_MS } from '../../core/limits.js';
import { Rounds } from '../../plugins/listener/rounds.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Rounds whose connections take `ms` each to flush, and the order in which they were flushed. */
function roundsOf(ms: number) {
  let time = 0;
  const flushed: string[] = [];
  const rounds = new Rounds(() => time + Date.now());
  const connection = (name: string) => ({
    flush: () => {
      time += ms;
      flushed.push(name);
    },
  });
  return { rounds, flushed, connection };
}

const many = Array.from({ length: 100 }, (_, i) => `watch ${i}`);

it('flushes every connection once, in the order in which they were added', () => {
  const { rounds, flushed, connection } = roundsOf(0);
  for (const name of many) rounds.add(connection(name));
  expect(flushed).toEqual([]);
  vi.advanceTimersByTime(0);
  expect(flushed).toEqual(many);
});

it('lets other work run between the slices of a long round', () => {
  const { rounds, flushed, connection } = roundsOf(FLUSH_SLICE_MS / 16);
  for (const name of many) rounds.add(connection(name));
  setImmediate(() => flushed.push('another request'));
  vi.runAllTimers();
  expect(flushed.filter(name => name !== 'another request')).toEqual(many);
  expect(flushed.indexOf('another request')).toBe(16);
});

it('flushes what is added during a round in the next one', () => {
  const { rounds, flushed, connection } = roundsOf(0);
  rounds.add({ flush: () => rounds.add(connection('later')) });
  rounds.add(connection('first'));
  vi.runAllTimers();
  expect(flushed).toEqual(['first', 'later']);
});

it('pauses after a long round for the time of the round, up to the limit', () => {
  const { rounds, flushed, connection } = roundsOf(1);
  const pauseAfter = (connections: number): number => {
    for (const name of many.slice(0, connections)) rounds.add(connection(name));
    while (flushed.length < connections) vi.advanceTimersToNextTimer();
    flushed.length = 0;
    rounds.add(connection('next'));
    const from = Date.now();
    while (flushed.length === 0) vi.advanceTimersToNextTimer();
    const pause = Date.now() - from;
    flushed.length = 0;
    vi.advanceTimersByTime(FLUSH_PAUSE_MS);
    return pause;
  };
  expect(pauseAfter(5)).toBe(5);
  expect(pauseAfter(100)).toBe(FLUSH_PAUSE_MS);
});

it('does not pause after a short round', () => {
  const { rounds, flushed, connection } = roundsOf(0.1);
  rounds.add(connection('first'));
  vi.advanceTimersByTime(0);
  rounds.add(connection('second'));
  vi.advanceTimersByTime(0);
  expect(flushed).toEqual(['first', 'second']);
});
