import type { KeyIndex } from './key-index.js';
import { type Change, decodeChange, eventKey, type Records, valueKey } from './records.js';

/** Events compacted by one batch: small enough that a commit behind it waits less than a millisecond. */
const STEP = 200;
/** Bytes of events one step reads: about STEP of them. */
const STEP_BYTES = 24 * 1024;

/**
 * Removes the events above `from` up to `revision`, at most about STEP of them, and the values they replaced; what was
 * current at `revision` stays. Events and values go in one batch, so an interrupted compaction finds its place again by
 * the events that are left. Returns the revision reached.
 */
export async function compactStep(records: Records, index: KeyIndex, from: number, revision: number): Promise<number> {
  const changes: Change[] = [];
  for await (const rows of records.scan(eventKey(from + 1), eventKey(revision + 1), STEP_BYTES)) {
    for (const row of rows) changes.push(decodeChange(row));
    if (changes.length >= STEP) break;
  }
  if (changes.length === 0) return revision;
  const batch = records.batch();
  for (const change of changes) {
    batch.remove(eventKey(change.revision, change.index));
    if (change.before.modified > 0) batch.remove(valueKey(change.key, change.before.modified));
    index.forget(change.key, revision);
  }
  await batch.write(false);
  // The last revision may be incomplete: the next step begins with it again.
  return changes.length >= STEP ? changes.at(-1)!.revision - 1 : revision;
}
