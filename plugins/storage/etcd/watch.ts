import { Compacted, type StoreEvent } from '../../../core/api/index.js';
import type { Connection } from './connection.js';
import type { WatchResponse } from './protocol.js';
import { decode, type Keys } from './values.js';

/** Time between questions for progress. */
const PROGRESS_MS = 1000;
const DELETE = 1;

/**
 * One watch from the revision after `position`, until it is cut (then it resolves, and goes on at the revision last delivered), `signal` aborts, or history is
 * gone (throws Compacted). etcd sends the events of a revision in one message.
 */
export function watchOnce(
  connection: Connection,
  keys: Keys,
  prefix: string,
  position: number,
  signal: AbortSignal,
  deliver: (events: readonly StoreEvent[], revision: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = connection.watch();
    const progress = () => stream.write({ progress: {} });
    const timer = setInterval(progress, PROGRESS_MS);
    timer.unref();
    const end = (error?: Error) => {
      clearInterval(timer);
      signal.removeEventListener('abort', abort);
      stream.cancel();
      if (error) reject(error);
      else resolve();
    };
    const abort = () => end();
    signal.addEventListener('abort', abort);
    stream.on('error', () => end());
    stream.on('end', () => end());
    stream.on('data', (response: WatchResponse) => {
      if (signal.aborted) return;
      if (response.canceled) return end(response.compact_revision > 0 ? new Compacted(response.compact_revision) : undefined);
      if (response.created) return progress();
      const events = response.events.map(event => change(event, keys));
      const last = events.at(-1)?.revision ?? response.header.revision;
      if (last < position) return;
      position = last;
      deliver(events, last);
    });
    stream.write({ create: { ...keys.range(prefix), start_revision: position + 1, prev_kv: true, progress_notify: true } });
  });
}

function change({ type, kv, prev_kv }: WatchResponse['events'][number], keys: Keys): StoreEvent {
  const deleted = type === DELETE;
  return {
    type: deleted ? 'delete' : 'put',
    key: keys.decode(kv.key),
    revision: kv.mod_revision,
    created: deleted ? (prev_kv?.create_revision ?? 0) : kv.create_revision,
    version: deleted ? (prev_kv?.version ?? 0) : kv.version,
    value: deleted ? undefined : decode(kv.value, kv.mod_revision),
    replaced: prev_kv?.mod_revision,
    previous: prev_kv && { value: decode(prev_kv.value, prev_kv.mod_revision), modified: prev_kv.mod_revision },
  };
}

/** The revision up to which history is compacted: etcd tells it to who watches from the very beginning. */
export function compactedRevision(connection: Connection, key: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = connection.watch();
    const end = (revision: number) => {
      stream.removeAllListeners('error');
      stream.on('error', () => {});
      stream.cancel();
      resolve(revision);
    };
    stream.on('error', reject);
    stream.on('data', (response: WatchResponse) => {
      if (response.canceled) end(response.compact_revision);
      else if (response.created) stream.write({ progress: {} });
      else end(0);
    });
    stream.write({ create: { key, start_revision: 1 } });
  });
}
