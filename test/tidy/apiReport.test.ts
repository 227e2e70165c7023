import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('capstan/api has the types of its report, and CHANGELOG.md names the report', { timeout: 120_000 }, () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/api.mjs'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
