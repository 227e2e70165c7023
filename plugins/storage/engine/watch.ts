import { StoreError, type StoreEvent } from '../../../core/api/index.js';
import { decodeChange, eventKey, type Records } from './records.js';

/**
 * Reads events with revisions above `from` and up to `to`, without values: about `limit` events under `prefix`, but
 * always all of a revision. The last element is always the last event read, even if it is not under `prefix`, so that
 * its revision is known.
 */
export async function readChanges(
  records: Records,
  from: number,
  to: number,
  limit: number,
  prefix: string,
): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  let matching = 0;
  let last: StoreEvent | undefined;
  for await (const rows of records.scan(eventKey(from + 1), eventKey(to + 1))) {
    for (const row of rows) {
      const { revision, key, created, version, before } = decodeChange(row);
      if (last === undefined ? revision !== from + 1 : revision > last.revision + 1) {
        throw new StoreError(
          `the store has lost the events between revisions ${last?.revision ?? from} and ${revision}`,
        );
      }
      if (matching >= limit && revision !== last?.revision) return appendLast(events, last);
      const deleted = version === 0;
      const replaced = before.modified || undefined;
      last = {
        type: deleted ? 'delete' : 'put',
        key,
        revision,
        created,
        version: deleted ? before.version : version,
        replaced,
      };
      if (!key.startsWith(prefix)) continue;
      events.push(last);
      matching++;
    }
  }
  return appendLast(events, last);
}

function appendLast(events: StoreEvent[], last: StoreEvent | undefined): StoreEvent[] {
  if (!last) throw new StoreError('the store has lost the events of its newest revisions');
  if (events.at(-1) !== last) events.push(last);
  return events;
}

/** Splits events into parts of at least `count`, except for the last one. A part has all events of a revision. */
export function* partsOf(events: readonly StoreEvent[], count: number): Generator<readonly StoreEvent[]> {
  for (let from = 0, to = 0; from < events.length; from = to) {
    to = Math.min(from + count, events.length);
    while (to < events.length && events[to]!.revision === events[to - 1]!.revision) to++;
    yield events.slice(from, to);
  }
}
