import type { Stored } from '../../../core/api/index.js';
import {
  encodeIndex,
  encodeState,
  FORMAT,
  indexKey,
  metaKey,
  VALUE_HEADER,
  valueKey,
  valueRecord,
  withChecksum,
  writeRevision,
} from '../engine/records.js';
import type { ValueCodec } from '../values.js';
import { encodePosition, POSITION_KEY, type Position } from './log/position.js';
import { openRecords } from './records.js';

/** Objects per batch. */
const OBJECTS_PER_BATCH = 500;

/**
 * Creates a database with these objects and without history in a new directory. It is durable when resolved. The store
 * continues from `revision`; older revisions count as compacted.
 */
export async function writeDatabase(
  path: string,
  {
    id,
    revision,
    objects,
    values,
    position,
  }: {
    readonly id: string;
    readonly revision: number;
    readonly objects: AsyncIterable<Stored> | Iterable<Stored>;
    /** How the values of the objects are stored. */
    readonly values: ValueCodec;
    /** The commit log that may exist next to the database has nothing that the database lacks. */
    readonly position?: Position;
  },
): Promise<void> {
  const records = await openRecords(path, { create: true });
  try {
    const totals = { objects: 0, sum: 0 };
    let batch = records.batch();
    for await (const { key, value, created, modified, version } of objects) {
      const stored = valueKey(key, modified);
      const record = valueRecord(value, undefined, modified, created, version);
      batch.put(stored, withChecksum(stored, values.encode(key, record, VALUE_HEADER)));
      const newest = indexKey(key);
      batch.put(newest, encodeIndex(newest, modified, created, version));
      totals.sum = (totals.sum + modified) >>> 0;
      if (++totals.objects % OBJECTS_PER_BATCH > 0) continue;
      await batch.write(false);
      batch = records.batch();
    }
    const compacted = Buffer.alloc(8);
    writeRevision(compacted, revision, 0);
    batch.put(metaKey('format'), Buffer.from(String(FORMAT)));
    batch.put(metaKey('id'), Buffer.from(id));
    batch.put(metaKey('compacted'), compacted);
    batch.put(metaKey('state'), encodeState({ revision, ...totals }));
    if (position) batch.put(POSITION_KEY, encodePosition(position));
    await batch.write(true);
  } finally {
    await records.close();
  }
}
