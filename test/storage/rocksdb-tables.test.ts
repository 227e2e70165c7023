import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDamagedTables } from '../../plugins/storage/rocksdb/files.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-tables-'));
  await writeFile(join(directory, '000008.sst'), 'twelve bytes');
});
afterEach(() => rm(directory, { recursive: true }));

/** Results of the library's list of tables, one per call. */
const lists = (...given: string[]): (() => string) => {
  const left = [...given];
  return () => (left.length > 1 ? left.shift()! : left[0]!);
};
const table = (number: number, size: number): string => ` ${number}:${size}['a' seq:1, type:1 .. 'z' seq:2, type:1]\n`;

describe('tables of an open database', () => {
  it('are damaged if the list still contains them although they are missing or of another size', async () => {
    const list = `--- level 0 ---\n${table(7, 5)}${table(8, 13)}`;
    expect(await findDamagedTables(directory, lists(list))).toEqual([
      '000007.sst is missing',
      '000008.sst has 12 bytes instead of 13',
    ]);
  });

  it('are not damaged if a merge has removed them meanwhile', async () => {
    const [before, after] = [
      `--- level 0 ---\n${table(6, 5)}${table(7, 5)}${table(8, 12)}`,
      `--- level 1 ---\n${table(8, 12)}`,
    ];
    expect(await findDamagedTables(directory, lists(before, after))).toEqual([]);
  });
});
