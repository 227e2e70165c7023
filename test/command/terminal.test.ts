import { describe, expect, test } from 'vitest';
import { withProgress } from '../../core/command/terminal/progress.js';
import { styleOf } from '../../core/command/terminal/style.js';
import { formatAge, formatMilliseconds } from '../../core/command/client/format.js';
import { delay } from '../../core/runtime/timers.js';
import { inVirtualTime } from '../support/virtualTime.js';

const terminal = { isTTY: true as const, hasColors: () => true };

describe('colors', () => {
  test('are written to a terminal that supports them', () => {
    expect(styleOf(terminal).good('yes')).toBe('\u001b[32myes\u001b[39m');
  });

  test.each([
    ['a pipe', { isTTY: undefined as unknown as boolean, hasColors: () => true }],
    ['a terminal without colors, or with NO_COLOR', { isTTY: true, hasColors: () => false }],
  ])('are not written to %s', (_, output) => {
    const { strong, faint, good, bad, command } = styleOf(output);
    expect([strong, faint, good, bad, command].map(style => style('text'))).toEqual(Array(5).fill('text'));
  });
});

describe('progress', () => {
  test('is one animated line, which disappears when the work is done', async () => {
    await inVirtualTime(async pass => {
      const written: string[] = [];
      const output = { isTTY: true as const, write: (text: string) => written.push(text) > 0 };
      let finish = (): void => undefined;
      const done = withProgress('starting', new Promise<void>(resolve => (finish = resolve)), output);
      await pass(delay(200));
      finish();
      await done;
      expect(written[0]).toBe('\r\u001b[2K⠋ starting');
      expect(written.length).toBeGreaterThan(2);
      expect(written.at(-1)).toBe('\r\u001b[2K');
    });
  });

  test('is not shown without a terminal, and passes on errors of the work', async () => {
    const written: string[] = [];
    const output = { isTTY: undefined as unknown as boolean, write: (text: string) => written.push(text) > 0 };
    await expect(withProgress('starting', Promise.reject(new Error('no')), output)).rejects.toThrow('no');
    expect(written).toEqual([]);
  });
});

test('durations are written with their two largest units', () => {
  expect([0, 45, 60, 81, 7260, 90_000].map(formatAge)).toEqual([
    '0 s',
    '45 s',
    '1 min',
    '1 min 21 s',
    '2 h 1 min',
    '1 d 1 h',
  ]);
  expect([0.25, 12.34, 162.4].map(formatMilliseconds)).toEqual(['0.25 ms', '12.3 ms', '162 ms']);
});
