import type { ServiceError } from '@grpc/grpc-js';
import { Compacted, type StoreEvent } from '../../../core/api/index.js';
import { ATTEMPT_MS, type Connection } from './connection.js';
import type { WatchResponse } from './protocol.js';
import { decode, type Keys } from './values.js';

const DELETE = 1;

/** What a watch wants to hear. */
export interface Wanted {
  readonly prefix: string;
  readonly previous: boolean;
}

/**
 * Opens a watch stream, on which `message` hears every answer until it is stopped. `ended` is called once if it ends by
 * itself: cut, refused, or without a first answer; if that was for want of a token, there is a new one by then. Returns
 * what stops it.
 */
function open(
  connection: Connection,
  create: object,
  message: (response: WatchResponse) => void,
  ended: (error: Error) => void,
): () => void {
  const { stream, token } = connection.watch();
  let over = false;
  const stop = () => {
    over = true;
    clearTimeout(late);
    stream.cancel();
  };
  const end = (error: Error) => {
    if (over) return;
    stop();
    const told = () => ended(error);
    void connection.renewToken(error as ServiceError, token).then(told, told);
  };
  const late = setTimeout(() => end(new Error('a watch was not begun in time')), ATTEMPT_MS);
  stream.on('error', end);
  stream.on('end', () => end(new Error('a watch was ended')));
  stream.on('data', (response: WatchResponse) => {
    if (over) return;
    clearTimeout(late);
    const { canceled, compact_revision, cancel_reason } = response;
    if (canceled && compact_revision === 0) end(Object.assign(new Error(cancel_reason), { details: cancel_reason }));
    else message(response);
  });
  stream.write({ create });
  return stop;
}

/**
 * One watch from the revision after `position`, until it is cut (then it resolves, and goes on at the revision last
 * delivered), `signal` aborts, or history is gone (throws Compacted). etcd sends the events of a revision in one
 * message. It looks at every key of the store, whatever is wanted: each event tells then how far all were delivered.
 * Asking etcd for its progress would not: before 3.4.25 and 3.5.8 the answer overtakes events.
 */
export function watchOnce(
  connection: Connection,
  keys: Keys,
  { prefix, previous }: Wanted,
  position: number,
  signal: AbortSignal,
  deliver: (events: readonly StoreEvent[], revision: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      signal.removeEventListener('abort', abort);
      stop();
      if (error) reject(error);
      else resolve();
    };
    const abort = () => end();
    const take = (response: WatchResponse) => {
      if (signal.aborted || response.created) return;
      if (response.canceled) return end(new Compacted(response.compact_revision));
      try {
        const revision = response.events.at(-1)?.kv.mod_revision ?? response.header.revision;
        if (revision <= position) return;
        position = revision;
        deliver(wantedOf(response, keys, prefix, previous), revision);
      } catch (error) {
        end(error as Error);
      }
    };
    const create = { ...keys.all(), start_revision: position + 1, prev_kv: previous, progress_notify: true };
    const stop = open(connection, create, take, () => end());
    signal.addEventListener('abort', abort);
  });
}

function wantedOf({ events }: WatchResponse, keys: Keys, prefix: string, previous: boolean): StoreEvent[] {
  const wanted: StoreEvent[] = [];
  for (const event of events) {
    const key = keys.decode(event.kv.key);
    if (key !== '' && key.startsWith(prefix)) wanted.push(change(event, key, previous));
  }
  return wanted;
}

function change({ type, kv, prev_kv }: WatchResponse['events'][number], key: string, previous: boolean): StoreEvent {
  const deleted = type === DELETE;
  return {
    type: deleted ? 'delete' : 'put',
    key,
    revision: kv.mod_revision,
    created: deleted ? (prev_kv?.create_revision ?? 0) : kv.create_revision,
    version: deleted ? (prev_kv?.version ?? 0) : kv.version,
    value: deleted ? undefined : decode(kv.value, kv.mod_revision, key),
    replaced: prev_kv?.mod_revision,
    previous:
      previous && prev_kv
        ? { value: decode(prev_kv.value, prev_kv.mod_revision, key), modified: prev_kv.mod_revision }
        : undefined,
  };
}

/**
 * The revision up to which history is compacted: etcd tells it to who watches from the very beginning. The store's
 * record was written at some time, so a watch of it from there hears either of that or of the compaction.
 */
export function compactedRevision(connection: Connection, keys: Keys): Promise<number> {
  return new Promise((resolve, reject) => {
    const take = ({ canceled, compact_revision, events }: WatchResponse) => {
      if (!canceled && events.length === 0) return;
      stop();
      resolve(canceled ? compact_revision : 0);
    };
    const stop = open(connection, { key: keys.record, start_revision: 1 }, take, reject);
  });
}
