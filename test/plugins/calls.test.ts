import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { PluginFailure, Refusal } from '../../core/api/index.js';
import { callerOf, type FailureKind } from '../../core/plugin/calls.js';
import { FailureCounters } from '../../core/plugin/failures.js';

const failures: FailureKind[] = [];
const logged: string[] = [];
const log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (_: object, text: string) => void logged.push(text),
};
const call = callerOf({ plugin: 'p', point: 'mutate', timeout: 20, log, count: kind => void failures.push(kind) });

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

  test('throws refusals as they are, and anything else as PluginFailure', () => {
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
  test('that takes too long is counted as a timeout, and what it does later is ignored', async () => {
    let reject: (error: Error) => void = () => {};
    const late = call(() => new Promise((_, fail) => (reject = fail)));
    await expect(late).rejects.toThrow('the plugin "p" did not answer within 20 ms');
    expect(failures.splice(0)).toEqual(['timeout']);
    // An unhandled rejection would fail the test run.
    reject(new Error('late'));
    await after(1);
    expect(failures).toEqual([]);
    expect(logged.at(-1)).toBe('plugin p: the call did not answer within 20 ms');
  });

  test('is waited for whatever its class', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library
    const thenable = { then: (done: (value: number) => void) => done(3) };
    expect(await call(() => thenable as Promise<number>)).toBe(3);
  });
});

test('counters are shared by plugin, point and kind; points of plugins are counted together', () => {
  const memory = FailureCounters.memory(3);
  const [here, there] = [new FailureCounters(memory), new FailureCounters(memory)];
  here.add(0, 'authn', 'error');
  there.add(0, 'authn', 'error');
  there.add(2, 'validate', 'timeout');
  here.add(2, 'own/point', 'error');
  there.add(2, 'toString', 'error');
  expect([...here]).toEqual([
    { plugin: 0, point: 'authn', kind: 'error', count: 2 },
    { plugin: 2, point: 'validate', kind: 'timeout', count: 1 },
    { plugin: 2, point: 'other', kind: 'error', count: 2 },
  ]);
});
