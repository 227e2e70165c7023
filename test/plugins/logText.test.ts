import { describe, expect, test } from 'vitest';
import { recordText } from '../../core/plugin/logText.js';
import { messagesOf, stackOf } from '../../core/plugin/calls/stack.js';
import { LOGGED_CAUSES, LOGGED_CHARACTERS } from '../../core/limits.js';

const RECORD = { level: 'warn', time: '2026-01-02T03:04:05.678Z', name: 'server', message: 'a disk is full' };

describe('a record as a text', () => {
  test('has time, level, origin and message on the first line, then fields, then texts of several lines', () => {
    const text = recordText(
      { ...RECORD, path: '/a b', stack: 'Error: x\n    at y', count: 3, nested: { a: 1 } },
      false,
    );
    expect(text).toMatch(
      /^\d\d:\d\d:05\.678 WARN {2}server: a disk is full\n {4}path="\/a b" count=3 nested=\{"a":1\}\n {4}Error: x\n {8}at y\n$/,
    );
  });

  test('indents the lines of a message, of which none looks like another record', () => {
    const forged = recordText({ ...RECORD, message: 'refused: no\n03:04:05.678 ERROR server: x\n\n' }, false);
    expect(forged.split('\n').slice(1)).toEqual(['    03:04:05.678 ERROR server: x', '    ', '    ', '']);
  });

  test('has colors for a terminal that supports them, and none otherwise', () => {
    expect(recordText(RECORD, true)).toContain('\u001b[33mWARN \u001b[0m');
    expect(recordText(RECORD, false)).not.toContain('\u001b');
  });

  test('has no characters with which a client could change what the terminal shows', () => {
    const evil = 'a\u001b[2Kb\rc\u202ed\u009be';
    const text = recordText({ ...RECORD, message: evil, path: evil, [evil]: 1, stack: `${evil}\n${evil}` }, false);
    expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]+$/);
  });
});

describe('the text of a thrown value', () => {
  const causedBy = (levels: number): Error =>
    new Error(`level ${levels}`, levels > 0 ? { cause: causedBy(levels - 1) } : undefined);

  test('has all causes up to a limit, and ends if they form a cycle', () => {
    expect(stackOf(causedBy(3)).match(/level \d/g)).toEqual(['level 3', 'level 2', 'level 1', 'level 0']);
    expect(stackOf(causedBy(50)).match(/^(Caused by: )?Error: level/gm)).toHaveLength(LOGGED_CAUSES + 1);
    const circle = new Error('round');
    circle.cause = circle;
    expect(stackOf(circle).match(/round/g)).toHaveLength(1);
    expect(messagesOf(circle)).toBe('round');
  });

  test('does not repeat the frames that a cause shares with its consequence', () => {
    const text = stackOf(new Error('outer', { cause: new Error('inner') }));
    expect(text).toMatch(/\nCaused by: Error: inner\n( {4}at .*\n)? {4}\.\.\. and \d+ frames of the error above$/);
  });

  test('has a maximum length, also for values that throw when they are read', () => {
    expect(stackOf(new Error('x'.repeat(1 << 20))).length).toBeLessThanOrEqual(LOGGED_CHARACTERS);
    const hostile = new Proxy({}, { get: () => expect.unreachable() });
    expect(stackOf(hostile)).toBe('a value that cannot be shown');
    expect(stackOf(new Error('a', { cause: hostile }))).toContain('Caused by: a value that cannot be shown');
    expect([stackOf(undefined), stackOf('text'), messagesOf(null)]).toEqual(['undefined', 'text', 'null']);
  });

  test('consists of messages, without those that the previous one contains', () => {
    const cause = new Error('connect ECONNREFUSED');
    expect(messagesOf(new Error('no database', { cause }))).toBe('no database: connect ECONNREFUSED');
    expect(messagesOf(new Error('no database: connect ECONNREFUSED', { cause }))).toBe(
      'no database: connect ECONNREFUSED',
    );
  });
});
