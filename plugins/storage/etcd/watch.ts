import type { ServiceError } from '@grpc/grpc-js';
import { Compacted, type StoreEvent } from '../../../core/api/index.js';
import { type Connection, isRefusal } from './connection.js';
import type { WatchResponse } from './protocol.js';
import { decode, type Keys } from './values.js';

const DELETE = 1;

/** What a watch wants to hear. */
export interface Wanted {
  readonly prefix: string;
  readonly previous: boolean;
}

/**
 * One watch from the revision after `position`, until it is cut (then it resolves, and goes on at the revision last delivered), `signal` aborts, or history is
 * gone (throws Compacted). etcd sends the events of a revision in one message. It looks at every key of the store, whatever is wanted: each event tells then
 * how far all were delivered. Asking etcd for its progress would not: before 3.4.25 and 3.5.8 the answer overtakes events.
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
    const { stream, token } = connection.watch();
    let ended = false;
    const end = (error?: Error) => {
      if (ended) return;
      ended = true;
      signal.removeEventListener('abort', abort);
      stream.cancel();
      if (error) reject(error);
      else resolve();
    };
    const abort = () => end();
    /** A watch without a valid token ends like a cut one, once there is a new token. */
    const cut = (error: ServiceError) =>
      void connection.renewToken(error, token).then(
        () => end(),
        () => end(),
      );
    signal.addEventListener('abort', abort);
    stream.on('error', (error: ServiceError) => (isRefusal(error) ? cut(error) : end()));
    stream.on('end', () => end());
    stream.on('data', (response: WatchResponse) => {
      if (ended || signal.aborted) return;
      if (response.canceled) {
        if (response.compact_revision > 0) return end(new Compacted(response.compact_revision));
        return cut({ details: response.cancel_reason } as ServiceError);
      }
      if (response.created) return;
      try {
        const revision = response.events.at(-1)?.kv.mod_revision ?? response.header.revision;
        if (revision <= position) return;
        position = revision;
        deliver(wantedOf(response, keys, prefix, previous), revision);
      } catch (error) {
        end(error as Error);
      }
    });
    stream.write({ create: { ...keys.all(), start_revision: position + 1, prev_kv: previous, progress_notify: true } });
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
 * The revision up to which history is compacted: etcd tells it to who watches from the very beginning. The store's record was written at some time, so a
 * watch of it from there hears either of that or of the compaction.
 */
export function compactedRevision(connection: Connection, keys: Keys): Promise<number> {
  return new Promise((resolve, reject) => {
    const { stream, token } = connection.watch();
    const end = (revision: number) => {
      stream.removeAllListeners('error');
      stream.on('error', () => {});
      stream.cancel();
      resolve(revision);
    };
    const fail = (error: ServiceError) =>
      void connection.renewToken(error, token).then(
        () => reject(error),
        () => reject(error),
      );
    stream.on('error', fail);
    stream.on('data', (response: WatchResponse) => {
      if (response.canceled && response.compact_revision === 0)
        fail(Object.assign(new Error(response.cancel_reason), { details: response.cancel_reason }) as ServiceError);
      else if (response.canceled) end(response.compact_revision);
      else if (response.events.length > 0) end(0);
    });
    stream.write({ create: { key: keys.record, start_revision: 1 } });
  });
}
