import { StoreError } from '../../../../core/api/index.js';
import { metaKey, REMEDY, type Records } from '../../engine/records.js';
import type { LogContent } from './logContent.js';
import { encodePosition, POSITION_KEY, type Position } from './position.js';
import { operationBytes } from '../record.js';
import { logPath } from './segment.js';

/** Bytes of one batch of a replay. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Returns why a log cannot be applied to a database without losing acknowledged writes; undefined if it can.
 *
 * The log has every write since its first record, and RocksDB has synced every write before that one. So the log
 * completes any prefix or subset of the later writes that RocksDB has kept: all records are applied again.
 */
export async function findLogProblem(
  path: string,
  database: Records,
  log: LogContent | undefined,
  position: Position | undefined,
): Promise<string | undefined> {
  if (!log) {
    if (!position || position.closed) return undefined;
    return `${logPath(path)} is missing, but the store was not closed: its last writes may be lost; restore it`;
  }
  const [id] = await database.getMany([metaKey('id')]);
  const sequence = position?.sequence ?? 0;
  if (id?.toString() !== log.store)
    return `${logPath(path)} belongs to the store ${log.store}, but ${path}/db is ${id ?? 'new'}; restore the matching files`;
  if (isComplete(log, position)) return undefined;
  if (log.damage) return log.damage;
  if (sequence < log.first - 1)
    return `${path}/db is damaged: writes ${sequence + 1} to ${log.first - 1} are missing, and the log does not have them`;
  if (sequence > log.last)
    return `${logPath(path)} is damaged: it ends with record ${log.last}, but the database has record ${sequence}`;
  return undefined;
}

/** Whether a database contains all records of a log durably. */
export const isComplete = (log: LogContent, position: Position | undefined): boolean =>
  position?.closed === true && position.sequence >= log.highest;

/** The error for a problem that `findLogProblem` has found. */
export const logError = (problem: string): StoreError => new StoreError(`${problem}; ${REMEDY}`);

/** Applies all records of a log, in order. With `salvage`, including those after damage. */
export async function replayLog(
  database: Records,
  log: LogContent,
  options?: { readonly salvage: boolean },
): Promise<void> {
  let batch = database.batch();
  let bytes = 0;
  for await (const operations of log.operations(options)) {
    for (const { key, value } of operations) {
      if (value) batch.put(key, value);
      else batch.remove(key);
      bytes += operationBytes(key, value);
    }
    if (bytes < BATCH_BYTES) continue;
    await batch.write(false);
    batch = database.batch();
    bytes = 0;
  }
  await batch.write(false);
}

/** Records durably, with all writes before it, which position a database has. */
export async function writePosition(
  database: Records,
  position: Position,
  rows: readonly (readonly [key: Buffer, value: Buffer])[] = [],
): Promise<void> {
  const batch = database.batch();
  for (const [key, value] of rows) batch.put(key, value);
  batch.put(POSITION_KEY, encodePosition(position));
  await batch.write(true);
}
