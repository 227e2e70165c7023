import { currentKey, currentValue, sharedDefinitionsNotice } from '../../../../core/schema/storageLayout.js';
import type { LoadedStore } from '../../engine/open.js';
import {
  type Change,
  decodeChange,
  decodeValueKey,
  encodeChange,
  FORMAT,
  indexKey,
  metaKey,
  type Records,
  type Row,
  rowBounds,
  VALUE_HEADER,
  valueKey,
  verifyChecksum,
  withChecksum,
} from '../../engine/records.js';
import type { Position } from '../log/position.js';
import { writePosition } from '../log/replay.js';

/** Bytes of one batch, which is synced. */
const BATCH_BYTES = 2 * 1024 * 1024;

/** The row of an index record with its key in the current layout. */
function moveIndex({ key, value }: Row): Row | undefined {
  const before = key.toString('utf8', 2);
  const after = currentKey(before);
  if (after === before) return undefined;
  const moved = indexKey(after);
  return { key: moved, value: withChecksum(moved, Buffer.from(value)) };
}

/**
 * The row of a value record with its key in the current layout. Values of the former layout are plain (PLAIN_VALUES).
 */
function moveValue({ key, value }: Row): Row | undefined {
  const { key: before, modified } = decodeValueKey(key);
  const after = currentKey(before);
  if (after === before) return undefined;
  const moved = valueKey(after, modified);
  const object = currentValue(before, value.subarray(VALUE_HEADER));
  return { key: moved, value: withChecksum(moved, Buffer.concat([value.subarray(0, VALUE_HEADER), object])) };
}

/** The row of an event record with the object's key in the current layout. */
function moveEvent(row: Row): Row | undefined {
  const change: Change = decodeChange(row);
  const key = currentKey(change.key);
  return key === change.key ? undefined : { key: row.key, value: encodeChange(row.key, { ...change, key }) };
}

const MOVES = [
  ['v', moveValue],
  ['i', moveIndex],
  ['e', moveEvent],
] as const;

/**
 * Begins a move. From then on, no release of the former layout opens the store. The position must include every record
 * of the commit log, because a replay would write rows of the former layout again.
 */
export const beginMove = (records: Records, position: Position): Promise<void> =>
  writePosition(records, position, [
    [metaKey('format'), Buffer.from(String(FORMAT))],
    [metaKey('moving'), Buffer.from('custom kinds')],
  ]);

/**
 * Gives the rows of custom kinds their keys in the current layout. Revisions and history stay as they are. Each row is
 * moved by one batch, so an interrupted move is completed by another one. Throws StoreError for a damaged row.
 */
export async function completeMove(records: Records): Promise<void> {
  for (const [kind, move] of MOVES) {
    let batch = records.batch();
    let bytes = 0;
    for await (const rows of records.scan(...rowBounds(kind)))
      for (const row of rows) {
        verifyChecksum(row);
        const moved = move(row);
        if (!moved) continue;
        batch.remove(row.key);
        batch.put(moved.key, moved.value);
        bytes += moved.key.length + moved.value.length;
        if (bytes < BATCH_BYTES) continue;
        await batch.write(true);
        batch = records.batch();
        bytes = 0;
      }
    await batch.write(true);
  }
  const last = records.batch();
  last.remove(metaKey('moving'));
  await last.write(true);
}

/** Returns a notice for administrators about a store of the former layout; undefined if there is none. */
export function noticeOf({ index, revision }: LoadedStore): string | undefined {
  const { found } = index.range('', undefined, revision, Number.POSITIVE_INFINITY);
  return sharedDefinitionsNotice(found.map(({ key }) => key));
}
