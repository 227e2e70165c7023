import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitLog } from '../../plugins/storage/rocksdb/log/commitLog.js';
import { type LogContent, readLog } from '../../plugins/storage/rocksdb/log/logContent.js';
import { type Operation, operationBytes, RECORD_HEADER, recordBytes } from '../../plugins/storage/rocksdb/record.js';
import { SEGMENT_HEADER } from '../../plugins/storage/rocksdb/log/segment.js';
import { noise } from './rocksdbFiles.js';

let path: string;
const logs: CommitLog[] = [];
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'capstan-log-'));
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close(false);
  await rm(path, { recursive: true, force: true });
});

async function create(directory = path): Promise<CommitLog> {
  const log = await CommitLog.create(directory, 'store-id', 1);
  logs.push(log);
  return log;
}

const put = (key: string, value: string): Operation => ({ key: Buffer.from(key), value: Buffer.from(value) });
const sizeOf = (operations: readonly Operation[]): number =>
  operations.reduce((sum, { key, value }) => sum + operationBytes(key, value), 0);

async function append(log: CommitLog, operations: readonly Operation[]): Promise<void> {
  const bytes = sizeOf(operations);
  await log.makeRoom(bytes);
  log.append(operations, bytes);
}

async function contents(log: LogContent | undefined): Promise<string[]> {
  const found: string[] = [];
  for await (const operations of log!.operations())
    found.push(operations.map(({ key, value }) => `${key}=${value ?? 'removed'}`).join());
  return found;
}

/** A megabyte of text that contains its number. */
const megabyte = (i: number): string => `${i};`.padEnd(1_000_000, String(i));

const segments = async (): Promise<string[]> => (await readdir(join(path, 'log'))).map(name => join(path, 'log', name));

/** Changes bytes of a file in place. */
async function edit(file: string, change: (bytes: Buffer) => void): Promise<void> {
  const bytes = await readFile(file);
  change(bytes);
  await writeFile(file, bytes);
}

describe('a commit log', () => {
  it('keeps batches with puts, empty values and removals in order', async () => {
    const log = await create();
    await append(log, [put('a', '1'), { key: Buffer.from('b'), value: undefined }]);
    await append(log, [put('c', '')]);
    const found = await readLog(path);
    expect(found).toMatchObject({ store: 'store-id', first: 1, last: 2, highest: 2, damage: undefined });
    expect(await contents(found)).toEqual(['a=1,b=removed', 'c=']);
  });

  it('is private and preallocated, and does not grow when a record is appended', async () => {
    const log = await create();
    const [file] = await segments();
    const { size, blocks, mode } = await stat(file!);
    expect(mode & 0o777).toBe(0o600);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    await append(log, [put('a', noise(1, 1000))]);
    expect((await stat(file!)).size).toBe(size);
  });

  it('has a few segments, however much is appended, because it reuses segments that the database does not need', async () => {
    const log = await create();
    const sizes = new Set<number>();
    for (let i = 1; i <= 90; i++) {
      await append(log, [put(`k${i}`, megabyte(i))]);
      await log.retire(i - 1);
      for (const file of await segments()) sizes.add((await stat(file)).size);
      expect((await segments()).length).toBeLessThanOrEqual(4);
    }
    expect(Math.max(...sizes)).toBe(16 * 1024 * 1024);
    const found = await readLog(path);
    expect(found).toMatchObject({ last: 90, damage: undefined });
    expect(found!.first).toBeGreaterThan(1);
    expect((await contents(found)).at(-1)).toBe(`k90=${megabyte(90)}`);
  });

  it('keeps all segments whose content the database may lose, and reads only contiguous ones', async () => {
    const log = await create();
    for (let i = 1; i <= 12; i++) await append(log, [put(`k${i}`, megabyte(i).slice(0, 400_000))]);
    expect((await contents(await readLog(path))).length).toBe(12);
    const files = await segments();
    expect(files.length).toBeGreaterThanOrEqual(3);
    const middle = files.find(file => file.endsWith('segment-2'))!;
    await rm(middle);
    const found = (await readLog(path))!;
    // The position of the database shows whether it needs more.
    expect(found.first).toBeGreaterThan(2);
    expect(found).toMatchObject({ last: 12, damage: undefined });
    expect((await contents(found)).length).toBe(13 - found.first);
  });

  it('takes batches that are larger than a segment', async () => {
    const log = await create();
    await append(log, [put('a', '1')]);
    const values = Array.from({ length: 20 }, (_, i) => put(`v${i}`, megabyte(i)));
    await append(log, values);
    await append(log, [put('b', '2')]);
    const found = await contents(await readLog(path));
    expect(found.map(text => text.length > 20_000_000)).toEqual([false, true, false]);
    await log.retire(3);
    expect((await segments()).length).toBeLessThanOrEqual(2);
  });

  it('has nothing to apply after it was closed as complete, and does not read old content as records', async () => {
    const log = await create();
    for (let i = 1; i <= 5; i++) await append(log, [put('old', String(i))]);
    await logs.pop()!.close(true);
    const closed = await readLog(path);
    expect(closed).toMatchObject({ first: 6, last: 5, highest: 5, damage: undefined });
    const again = await CommitLog.resume(path, closed!, 6);
    logs.push(again);
    expect(await readLog(path)).toMatchObject({ first: 6, last: 5, highest: 5, damage: undefined });
    await append(again, [put('new', '6')]);
    expect(await contents(await readLog(path))).toEqual(['new=6']);
  });

  it('refuses a damaged header', async () => {
    await create();
    const [file] = await segments();
    await edit(file!, bytes => bytes.write('x', 20));
    await expect(readLog(path)).rejects.toThrow(/segment-1 is damaged: its header is invalid; .*store recover/);
  });

  it('fails without space for the next segment, and accepts no more batches', async () => {
    const log = await create();
    await expect(log.makeRoom(2 ** 50)).rejects.toThrow(/ENOSPC/);
    expect(() => log.append([put('a', '1')], 10)).toThrow(/ENOSPC/);
    expect((await segments()).length).toBe(1);
  });
});

const BATCHES = fc.array(
  fc.array(
    fc.record({
      key: fc.uint8Array({ minLength: 1, maxLength: 12 }).map(bytes => Buffer.from(bytes)),
      value: fc.option(
        fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
        { nil: undefined },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  { minLength: 1, maxLength: 12 },
);
const FRACTION = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

const text = (operations: readonly Operation[]): string =>
  operations.map(({ key, value }) => `${key.toString('hex')}=${value?.toString('hex') ?? '-'}`).join();

/** Appends batches to a new log. Returns its file, and where the records end. */
async function appendAll(batches: readonly (readonly Operation[])[]) {
  await rm(join(path, 'log'), { recursive: true, force: true });
  const log = await create();
  const ends = [SEGMENT_HEADER];
  for (const operations of batches) {
    await append(log, operations);
    ends.push(ends.at(-1)! + recordBytes(sizeOf(operations)));
  }
  await logs.pop()!.close(false);
  return { file: (await segments())[0]!, ends };
}

async function keptTexts(log: LogContent): Promise<string[]> {
  const kept: string[] = [];
  for await (const operations of log.operations()) kept.push(text(operations));
  return kept;
}

describe('the log after a crash', () => {
  it('has all durable batches, and the last one completely or not at all', async () => {
    const arbitrary = fc.tuple(BATCHES, FRACTION, FRACTION);
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([batches, start, end]) => {
        const { file, ends } = await appendAll(batches);
        const durable = ends.at(-2)!;
        const bytes = ends.at(-1)! - durable;
        // The crash happens while the last batch is written: any part of it has not reached the disk.
        await edit(file, content =>
          content.fill(0, durable + Math.floor(bytes * start), durable + Math.ceil(bytes * end)),
        );
        const found = (await readLog(path))!;
        expect(found.damage).toBeUndefined();
        const kept = await keptTexts(found);
        expect(kept.length).toBeGreaterThanOrEqual(batches.length - 1);
        expect(kept).toEqual(batches.slice(0, kept.length).map(text));
      }),
      { numRuns: 100 },
    );
  });

  it('is damaged if any byte of a batch before the last one changed', async () => {
    const arbitrary = fc.tuple(BATCHES, FRACTION, fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([batches, fraction, mask]) => {
        const { file, ends } = await appendAll([...batches, [put('k', 'last')]]);
        const operations = batches.map(sizeOf);
        const record = Math.floor(fraction * batches.length);
        // Up to its end without the padding.
        const size = RECORD_HEADER + operations[record]!;
        const at = ends[record]! + Math.floor(((fraction * batches.length) % 1) * size);
        await edit(file, bytes => (bytes[at]! ^= mask));
        const found = (await readLog(path))!;
        expect(found.damage).toMatch(/missing or damaged, and later ones follow/);
        expect(found).toMatchObject({ last: record, highest: batches.length + 1 });
      }),
      { numRuns: 100 },
    );
  });

  it('ends before a record that was written only partly, also if the file was truncated', async () => {
    const log = await create();
    await append(log, [put('a', noise(1, 3000))]);
    await append(log, [put('b', noise(2, 3000))]);
    const [file] = await segments();
    await copyFile(file!, `${file}-whole`);
    for (const bytes of [3040, 3100, 5000, 6000]) {
      await copyFile(`${file}-whole`, file!);
      await truncate(file!, SEGMENT_HEADER + bytes);
      expect(await readLog(path)).toMatchObject({ last: 1, damage: undefined });
    }
  });
});
