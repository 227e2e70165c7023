import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBounded } from '../../core/files/watchedFile.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bounded-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a file is read up to the size limit, and refused beyond it', async () => {
  const file = join(folder, 'config');
  for (const size of [0, 9, 10]) {
    writeFileSync(file, 'x'.repeat(size));
    expect((await readBounded(file, 10)).toString()).toBe('x'.repeat(size));
  }
  writeFileSync(file, 'x'.repeat(200_000));
  await expect(readBounded(file, 100_000)).rejects.toThrow(`${file} has more than 100000 bytes`);
  await expect(readBounded(file, 200_000)).resolves.toHaveLength(200_000);
});

test('the error for a missing file or a folder names it', async () => {
  const none = join(folder, 'none');
  await expect(readBounded(none, 10)).rejects.toThrow(`cannot read ${none}: ENOENT; name a file`);
  await expect(readBounded(folder, 10)).rejects.toThrow(`cannot read ${folder}: EISDIR; name a file`);
});

test.skipIf(process.platform === 'win32')('an endless device is read only up to the limit', async () => {
  await expect(readBounded('/dev/zero', 100_000)).rejects.toThrow('/dev/zero has more than 100000 bytes');
});
