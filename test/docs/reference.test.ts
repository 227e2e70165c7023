import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { flagsPage, settingsTable } from '../../core/command/reference.js';
import * as limits from '../../core/limits.js';
import { MAX_VIOLATIONS, REASONS } from '../../core/model/refusal.js';
import { checkPluginUse } from '../../core/plugin/settings.js';

/* The pages of docs/reference, and tables of the guides, agree with the code. */

const page = (name: string): string => readFileSync(`docs/${name}.md`, 'utf8');
/** The cells of the rows below a heading of a table, up to the next empty line. */
function rowsOf(text: string, heading: string): string[][] {
  const from = text.indexOf(`\n| ${heading}`);
  expect(from, heading).toBeGreaterThan(0);
  const [, , ...rows] = text
    .slice(from + 1)
    .split('\n\n')[0]!
    .split('\n');
  return rows
    .filter(row => row.startsWith('|'))
    .map(row => row.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '')));
}

describe('docs/reference/configuration.md', () => {
  const text = page('reference/configuration');

  test('has every setting as a flag, in the file and in the library, with its help', () => {
    expect(text).toContain(`\n\n${settingsTable()}\n\n`.slice(1));
  });

  test('has every field of a plugin', () => {
    const fields = rowsOf(text, 'field').map(([field]) => field!.replaceAll('`', ''));
    expect(() => checkPluginUse({ other: 1 }, 'p')).toThrow(`a plugin has ${fields.join(', ')}`);
    expect(text).toContain(`10 s by default`);
    expect([limits.PLUGIN_CALL_MS, limits.PLUGIN_CALL_MAX_MS]).toEqual([10_000, 30_000]);
  });
});

test('docs/reference/flags.md has every flag (npm run reference)', () => {
  expect(page('reference/flags')).toBe(flagsPage());
});

describe('docs/reference/errors.md', () => {
  const text = page('reference/errors');

  test('has every reason of a Status with its code', () => {
    const [reasons] = text.split('## Violations');
    expect(rowsOf(reasons!, 'reason').map(([reason, code]) => [reason!.replaceAll('`', ''), Number(code)])).toEqual(
      Object.entries(REASONS),
    );
  });

  test('has every type of violation with its message', () => {
    const source = readFileSync('core/model/refusal.ts', 'utf8');
    const table = /VIOLATIONS = \{\n(.*?)\n\} as const/s.exec(source)![1]!;
    const types = [...table.matchAll(/(\w+): '([^']+)'/g)].map(([, type, words]) => [type, words]);
    const [, violations] = text.split('## Violations');
    const rows = rowsOf(violations!, 'reason').map(row => row.slice(0, 2).map(cell => cell.replaceAll('`', '')));
    expect(rows).toEqual(types);
    expect(text).toContain(`At most ${MAX_VIOLATIONS} violations`);
  });

  test('has the messages of failed plugins', () => {
    const source = readFileSync('core/plugin/calls/calls.ts', 'utf8') + readFileSync('core/api/point.ts', 'utf8');
    for (const words of [
      'did not answer within',
      'failed; see the log of the server',
      'Internal error occurred: the plugin',
    ])
      expect([source.includes(words), text.includes(words)], words).toEqual([true, true]);
  });
});

test('the limits in docs/guides/operations.md are those of core/limits.ts', () => {
  const MIB = 1024 * 1024;
  const rows = new Map(rowsOf(page('guides/operations'), 'subject').map(([what, limit]) => [what, limit]));
  const thousands = (number: number): string => number.toLocaleString('en-US');
  expect(Object.fromEntries(rows)).toMatchObject({
    'body of a request': `${limits.BODY_BYTES / MIB} MiB`,
    'stored object': `${limits.OBJECT_BYTES / MIB} MiB`,
    'header of a request': `${limits.HEADER_BYTES / 1024} KiB`,
    'value of one header; with a token': `${limits.HEADER_VALUE_BYTES / 1024} KiB; ${limits.CREDENTIALS_BYTES / 1024} KiB`,
    'nesting of a body': `${limits.DEPTH}`,
    'requests that wait for the pool; of one user': `${thousands(limits.POOL_QUEUE)}; ${thousands(limits.IDENTITY_REQUESTS)}`,
    'watches of one user': thousands(limits.IDENTITY_WATCHES),
    'unsent bytes of one watch': `${limits.WATCH_BACKLOG_BYTES / MIB} MiB`,
    'history for watches and continue tokens': `${limits.HISTORY_MS / 60_000} minutes (\`--history\`)`,
    'a write, with its retries': `${limits.WRITE_MS / 1000} s`,
    'a call of a plugin': `${limits.PLUGIN_CALL_MS / 1000} s, at most ${limits.PLUGIN_CALL_MAX_MS / 1000} s`,
  });
});
