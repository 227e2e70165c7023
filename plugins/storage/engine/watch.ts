import { StoreError, type StoreEvent } from '../../../core/api/index.js';
import { decodeChange, eventKey, type Records } from './records.js';

/**
 * Events above `from` up to `to` from the records, without values, whole revisions, about `limit` that matter to
 * `prefix`. At least the last revision read is told by its last event, even if that lies outside of the prefix.
 */
export async function readChanges(
  records: Records,
  from: number,
  to: number,
  limit: number,
  prefix: string,
): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  let wanted = 0;
  let last: StoreEvent | undefined;
  for await (const rows of records.scan(eventKey(from + 1), eventKey(to + 1))) {
    for (const row of rows) {
      const { revision, key, created, version, before } = decodeChange(row);
      if (last === undefined ? revision !== from + 1 : revision > last.revision + 1) {
        throw new StoreError(
          `the store has lost the events between revisions ${last?.revision ?? from} and ${revision}`,
        );
      }
      if (wanted >= limit && revision !== last?.revision) return withLast(events, last);
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
      wanted++;
    }
  }
  return withLast(events, last);
}

function withLast(events: StoreEvent[], last: StoreEvent | undefined): StoreEvent[] {
  if (!last) throw new StoreError('the store has lost the events of its newest revisions');
  if (events.at(-1) !== last) events.push(last);
  return events;
}
