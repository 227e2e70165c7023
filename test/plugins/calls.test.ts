import assert from 'node:assert/strict';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { PluginFailure, Refusal } from '../../core/api/index.js';
import { CallCounters, DURATION_BOUNDS, type FailureKind } from '../../core/plugin/calls/callCounters.js';
import { callerOf } from '../../core/plugin/calls/calls.js';
import { delay } from '../../core/runtime/timers.js';
import { inVirtualTime } from '../support/virtualTime.js';

const failures: FailureKind[] = [];
const logged: string[] = [];
const log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (_: object, text: string) => void logged.push(text),
};
const durations: number[] = [];
const counters = {
  countFailure: (kind: FailureKind) => void failures.push(kind),
  countCall: (milliseconds: number) => void durations.push(milliseconds),
};
const call = callerOf({ plugin: 'p', point: 'mutator', timeout: 20, log, counters });

describe('a call that returns synchronously', () => {
  test('returns what the plugin returns, without timer or promise', () => {
    const timer = vi.spyOn(globalThis, 'setTimeout');
    const then = vi.spyOn(Promise.prototype, 'then');
    const result = { a: 1 };
    expect(call(() => result)).toBe(result);
    expect(call(() => undefined)).toBeUndefined();
    expect([timer.mock.calls.length, then.mock.calls.length]).toEqual([0, 0]);
    vi.restoreAllMocks();
  });

  test('throws refusals unchanged, and anything else as PluginFailure', () => {
    const refusal = new Refusal('Forbidden', 'no');
    const throwing = (thrown: unknown) => () =>
      call(() => {
        throw thrown;
      });
    expect(throwing(refusal)).toThrow(refusal);
    expect(failures).toEqual([]);
    for (const thrown of [new Error('x'), 'x', undefined, null, { stack: 1 }])
      expect(throwing(thrown)).toThrow(PluginFailure);
    expect(failures.splice(0)).toEqual(['error', 'error', 'error', 'error', 'error']);
  });
});

describe('a call that returns a promise', () => {
  test('that takes too long is counted as a timeout, and its later result is ignored', async () => {
    let reject: (error: Error) => void = () => {};
    const late = call(() => new Promise((_, fail) => (reject = fail)));
    await expect(late).rejects.toThrow('the plugin "p" did not answer within 20ms');
    expect(failures.splice(0)).toEqual(['timeout']);
    // An unhandled rejection would fail the test run.
    reject(new Error('late'));
    await after(1);
    expect(failures).toEqual([]);
    expect(logged.at(-1)).toBe('plugin p: the call did not answer within 20ms');
  });

  test('is awaited if it is any thenable', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library
    const thenable = { then: (done: (value: number) => void) => done(3) };
    expect(await call(() => thenable as Promise<number>)).toBe(3);
  });
});

describe('durations', () => {
  const measured = (): number | undefined => durations.splice(0).at(-1);

  test('of calls that return, throw, resolve and reject are counted, each once', async () => {
    durations.splice(0);
    call(() => 1);
    expect(durations.splice(0)).toHaveLength(1);
    expect(() => call(() => assert.fail())).toThrow(PluginFailure);
    expect(durations.splice(0)).toHaveLength(1);
    await inVirtualTime(async pass => {
      await pass(Promise.resolve(call(() => delay(15))));
      expect(measured()).toBe(15);
      await expect(pass(Promise.resolve(call(() => new Promise(() => {}))))).rejects.toThrow(PluginFailure);
      expect(measured()).toBe(20);
    });
    failures.splice(0);
  });

  test('are summed beyond the range of one number in memory', () => {
    const all = new CallCounters(CallCounters.memory(1));
    const counted = all.of(0, 'authorizer');
    for (let i = 0; i < 100; i++) counted.countCall(29_999.5);
    counted.countCall(0.05);
    const [found] = [...all];
    expect(found?.seconds).toBeCloseTo(2999.95005, 4);
    expect([found?.buckets[0], found?.buckets.at(-2), found?.buckets.at(-1)]).toEqual([1, 100, 0]);
  });
});

test('counters are shared by plugin, point and kind; points of plugins are counted together', () => {
  const memory = CallCounters.memory(3);
  const [here, there] = [new CallCounters(memory), new CallCounters(memory)];
  here.of(0, 'authenticator').countFailure('error');
  there.of(0, 'authenticator').countFailure('error');
  there.of(2, 'validator').countFailure('timeout');
  here.of(2, 'own/point').countFailure('error');
  there.of(2, 'toString').countFailure('error');
  there.of(2, 'toString').countCall(2);
  const none = [...DURATION_BOUNDS, 0].map(() => 0);
  expect([...here]).toEqual([
    { plugin: 0, point: 'authenticator', failures: { error: 2, timeout: 0 }, buckets: none, seconds: 0 },
    { plugin: 2, point: 'validator', failures: { error: 0, timeout: 1 }, buckets: none, seconds: 0 },
    { plugin: 2, point: 'other', failures: { error: 2, timeout: 0 }, buckets: none.with(2, 1), seconds: 0.002 },
  ]);
});
