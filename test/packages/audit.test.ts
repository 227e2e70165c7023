import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Runs the script with a registry that answers requests for advisories with this value; null: with 405. */
async function audit(advisories: object | null): Promise<{ readonly code: number | null; readonly output: string }> {
  const registry = createServer((request, response) => {
    request.resume();
    const isAsked = request.method === 'POST' && request.url?.endsWith('/advisories/bulk') && advisories;
    response.writeHead(isAsked ? 200 : 405, { 'content-type': 'application/json' });
    response.end(isAsked ? JSON.stringify(advisories) : '{}');
  });
  await new Promise<void>(resolve => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  // npm caches advisories.
  const cache = mkdtempSync(join(tmpdir(), 'capstan-audit-'));
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: cache };
  const child = spawn(process.execPath, ['scripts/check/audit.mjs'], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', bytes => (output += String(bytes)));
  const code = await new Promise<number | null>(resolve => child.on('close', resolve));
  await new Promise(resolve => registry.close(resolve));
  rmSync(cache, { recursive: true });
  return { code, output };
}

const advisory = (severity: string) => ({
  id: 1,
  url: 'https://example.com/advisory',
  title: 'Tokens are believed',
  severity,
  vulnerable_versions: '*',
  cwe: [],
  cvss: { score: 0, vectorString: null },
});

test('npm run audit fails for high and critical vulnerabilities of shipped packages', async () => {
  for (const severity of ['high', 'critical']) {
    const { code, output } = await audit({ jose: [advisory(severity)] });
    expect([code, output]).toEqual([1, expect.stringContaining(`${severity}: jose: Tokens are believed`)]);
  }
});

test('npm run audit only reports others, and ignores development tools', async () => {
  const { code, output } = await audit({ jose: [advisory('moderate')], vitest: [advisory('critical')] });
  expect([code, output]).toEqual([
    0,
    'moderate: jose: Tokens are believed (https://example.com/advisory)\n' +
      'audit: 1 vulnerable production dependencies, 0 of them high or critical\n',
  ]);
});

test('npm run audit reports that the registry does not answer', async () => {
  const { code, output } = await audit(null);
  expect([code, output]).toEqual([0, expect.stringContaining('the registry did not answer, nothing was checked: 405')]);
});
