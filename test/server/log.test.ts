import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const run = spawnSync(process.execPath, [resolve('dist/test/server/fixtures/logging.js')], { encoding: 'utf8' });
const records = run.stderr
  .trim()
  .split('\n')
  .map(line => JSON.parse(line));

test('each record is a line of JSON, and none is lost when a thread or the process ends', () => {
  const own = (name: string) =>
    records.filter(record => record.name === name).map(({ level, message }) => `${level} ${message}`);
  const both = ['info of a value without JSON', 'warn of secrets', 'error of an error'];
  expect(run.signal).toBe('SIGKILL');
  expect(own('worker')).toEqual(both);
  expect(own('main')).toEqual([...both, 'error last']);
  for (const { time } of records) expect(new Date(time).toISOString()).toBe(time);
});

test('records contain no secrets, and of errors only message and stack', () => {
  expect(run.stderr).not.toContain('hidden');
  const { error, stack } = records.find(record => record.message === 'of an error');
  expect([error.split('\n')[0], stack]).toEqual(['Error: it failed', 'a\nb']);
  expect(records.find(record => record.message === 'of secrets').headers.accept).toBe('shown');
});

test('the library is loaded only with the first record', () => {
  expect(records.at(-1)).toMatchObject({ before: false, after: true });
});
