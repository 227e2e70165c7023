import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

/* The plugin interface in its current state, and after a release, in a copy of the repository. */

describe('npm run api', { timeout: 300_000 }, () => {
  const copy = mkdtempSync(join(tmpdir(), 'capstan-api-'));
  for (const name of ['core', 'scripts', 'docs', 'CHANGELOG.md', 'package.json', 'tsconfig.json'])
    cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const api = (...parameters: string[]): string => {
    const { stderr, status } = spawnSync(process.execPath, [join(copy, 'scripts', 'check', 'api.mjs'), ...parameters], {
      encoding: 'utf8',
      cwd: copy,
    });
    return status === 0 ? '' : stderr;
  };
  const edit = (path: string, from: string, to: string): void => {
    const text = readFileSync(join(copy, path), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(copy, path), text.replace(from, to));
  };

  // apiVersion.test.ts tests which version numbers are correct.
  test('finds the types of its report, which CHANGELOG.md mentions; a breaking change after a release needs a major version', () => {
    expect(api('--release', '0.1.0')).toBe('');
    expect(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')).toMatch(
      /## Unreleased\n### Plugin interface\n\n## 0\.1\.0\n### Added\n/,
    );
    edit('core/api/control.ts', 'start(): Awaitable<void>;', 'start(): Awaitable<string>;');
    expect(api('--accept', 'start returns a text')).toContain('API_VERSION must be 2.0, as the last release has 1.0');
  });
});
