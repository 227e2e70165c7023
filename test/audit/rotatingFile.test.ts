import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakeHost } from '../../core/testing/index.js';
import { Backups } from '../../plugins/audit/log/backups.js';
import { RotatingFile, type RotationOptions } from '../../plugins/audit/log/rotatingFile.js';

const KEEPS_ALL: RotationOptions = { maxBytes: 100, maxBackups: 0, maxAgeMs: 0, compresses: false };

let folder: string;
let path: string;
const fake = fakeHost('front');
const opened: RotatingFile[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capstan-rotation-'));
  path = join(folder, 'audit.log');
});
afterEach(async () => {
  for (const file of opened.splice(0)) await file.close();
  rmSync(folder, { recursive: true });
});

function open(options: Partial<RotationOptions> = {}): RotatingFile {
  const file = new RotatingFile(path, { ...KEEPS_ALL, ...options }, fake.host);
  opened.push(file);
  return file;
}

const files = (): string[] => readdirSync(folder).sort();
const textOf = (name: string): string => {
  const bytes = readFileSync(join(folder, name));
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
};
const line = (i: number): string => `${i}`.padStart(9, '0') + '\n';
const all = (): string[] =>
  files()
    .flatMap(name => textOf(name).split('\n'))
    .filter(Boolean)
    .sort();
const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => line(i).trim());

describe('a log that is rotated', () => {
  test('is renamed before it would become too large, without losing lines', async () => {
    const file = open();
    await Promise.all(Array.from({ length: 25 }, (_, i) => file.append(line(i))));
    await file.close();
    const names = files();
    expect(names).toHaveLength(3);
    expect(names[0]).toMatch(/^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/);
    expect(names.map(name => textOf(name).length)).toEqual([100, 100, 50]);
    expect(all()).toEqual(lines(25));
  });

  test('neither loses nor mixes lines if several threads write to it', async () => {
    const writers = [open(), open(), open()];
    await Promise.all(Array.from({ length: 600 }, (_, i) => writers[i % 3]!.append(line(i))));
    expect(all()).toEqual(lines(600));
  });

  test('is created again after another program has renamed it', async () => {
    const file = open();
    await file.append('a\n');
    renameSync(path, join(folder, 'elsewhere'));
    await file.append('b\n');
    expect([textOf('elsewhere'), textOf('audit.log')]).toEqual(['a\n', 'b\n']);
  });

  test('continues where the previous server has ended', async () => {
    writeFileSync(path, 'x'.repeat(99) + '\n');
    const file = open();
    await file.append(line(1));
    expect(files()).toHaveLength(2);
    expect(textOf('audit.log')).toBe(line(1));
  });

  test('keeps the newest rotated logs, and compresses them', async () => {
    const file = open({ maxBackups: 2, compresses: true });
    for (let i = 0; i < 50; i++, fake.now++) await file.append(line(i));
    await file.close();
    const names = files();
    expect(names).toHaveLength(3);
    expect(names.slice(0, 2).every(name => name.endsWith('.log.gz'))).toBe(true);
    expect(all()).toEqual(lines(50).slice(20));
  });

  test('keeps the file mode that was set from outside, also for compressed logs', async () => {
    const file = open({ compresses: true });
    await file.append(line(0));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o640);
    for (let i = 1; i < 25; i++, fake.now++) await file.append(line(i));
    await file.close();
    expect(files().map(name => statSync(join(folder, name)).mode & 0o777)).toEqual([0o640, 0o640, 0o640]);
    expect(files()[0]).toMatch(/\.gz$/);
  });

  test('does not replace a rotated log whose name another thread has claimed', async () => {
    const backups = new Backups(path, { ...KEEPS_ALL, maxBackups: 1 }, Date.now);
    const name = 'audit-2026-01-01T00-00-00.000.log';
    writeFileSync(join(folder, name), 'a\n');
    await backups.claim();
    await backups.clean();
    expect(files()).toContain(name);
  });

  test('removes rotated logs that are too old, and no other files', async () => {
    const [old, young] = ['audit-2029-12-30T00-00-00.000.log.gz', 'audit-2029-12-31T12-00-00.000.log'];
    for (const name of [old, young, 'audit-other.log', 'audit-2001-01-01T00-00-00.000.txt'])
      writeFileSync(join(folder, name), '');
    const file = open({ maxAgeMs: 24 * 3_600_000 });
    await file.append('a\n');
    await file.close();
    expect(files()).toEqual([young, 'audit-2001-01-01T00-00-00.000.txt', 'audit-other.log', 'audit.log'].sort());
  });

  test('finishes a compression that a killed server has begun', async () => {
    const name = 'audit-2029-12-31T12-00-00.000.log';
    writeFileSync(join(folder, name), 'whole\n');
    writeFileSync(join(folder, `${name}.gz.part`), 'part');
    utimesSync(join(folder, `${name}.gz.part`), 0, 0);
    for (let i = 0; i < 2; i++) {
      const file = open({ compresses: true });
      await file.append('a\n');
      await file.close();
    }
    expect(textOf(`${name}.gz`)).toBe('whole\n');
    expect(existsSync(join(folder, name))).toBe(false);
  });

  test('refuses a line that is larger than a file may be, and reports failed writes', async () => {
    const file = open();
    await expect(file.append('x'.repeat(101))).rejects.toThrow('101 bytes are more than a file may have');
    const elsewhere = new RotatingFile(join(folder, 'none', 'a.log'), KEEPS_ALL, fake.host);
    await expect(elsewhere.append('a\n')).rejects.toThrow('ENOENT');
    await elsewhere.close();
  });
});
