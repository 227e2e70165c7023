import type { KeyIndex } from './keyIndex.js';
import { type Change, decodeChange, eventKey, type Records, valueKey } from './records.js';

/** Events compacted by one batch: so few that a commit waits less than a millisecond for it. */
const EVENTS_PER_STEP = 200;
/** Bytes of events read at once: about EVENTS_PER_STEP events. */
const BYTES_PER_STEP = 24 * 1024;

/**
 * Removes events above `from` and up to `revision`, at most about EVENTS_PER_STEP of them, and the values they
 * replaced. Values that are current at `revision` are kept. Events and values are removed by one batch, so an
 * interrupted compaction can resume from the remaining events. Returns the revision reached.
 */
export async function compactStep(records: Records, index: KeyIndex, from: number, revision: number): Promise<number> {
  const changes: Change[] = [];
  for await (const rows of records.scan(eventKey(from + 1), eventKey(revision + 1), BYTES_PER_STEP)) {
    for (const row of rows) changes.push(decodeChange(row));
    if (changes.length >= EVENTS_PER_STEP) break;
  }
  if (changes.length === 0) return revision;
  const batch = records.batch();
  for (const change of changes) {
    batch.remove(eventKey(change.revision, change.index));
    if (change.before.modified > 0) batch.remove(valueKey(change.key, change.before.modified));
    index.discardOlder(change.key, revision);
  }
  await batch.write(false);
  // The last revision may be incomplete, so the next step starts with it again.
  return changes.length >= EVENTS_PER_STEP ? changes.at(-1)!.revision - 1 : revision;
}
