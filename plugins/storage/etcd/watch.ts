import type { ServiceError } from '@grpc/grpc-js';
import { Compacted, type StoreEvent } from '../../../core/api/index.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { ATTEMPT_MS, type Connection } from './connection.js';
import type { WatchResponse } from './protocol.js';
import type { Encoding, Keys } from './values.js';

const DELETE = 1;

/** The events that a watch delivers: those under `prefix`; with previous values if `previous`. */
export interface WatchFilter {
  readonly prefix: string;
  readonly previous: boolean;
}

/**
 * Opens a watch stream. `message` is called with each response until the stream is stopped. `ended` is called once if
 * the stream ends otherwise: the connection is lost, etcd cancels it, or there is no response in time. If the token was
 * invalid, it has been renewed before. Returns a function that stops the stream.
 */
function openStream(
  connection: Connection,
  create: object,
  message: (response: WatchResponse) => void,
  ended: (error: Error) => void,
): () => void {
  const { stream, token } = connection.watch();
  let stopped = false;
  const stop = () => {
    stopped = true;
    clearTimeout(timeout);
    stream.cancel();
  };
  const end = (error: Error) => {
    if (stopped) return;
    stop();
    const notify = () => ended(error);
    void connection.renewToken(error as ServiceError, token).then(notify, notify);
  };
  const timeout = setTimeout(() => end(new Error('no response to a watch request in time')), ATTEMPT_MS);
  stream.on('error', end);
  stream.on('end', () => end(new Error('etcd ended a watch')));
  stream.on('data', (response: WatchResponse) => {
    if (stopped) return;
    clearTimeout(timeout);
    const { canceled, compact_revision, cancel_reason } = response;
    if (canceled && compact_revision === 0) end(Object.assign(new Error(cancel_reason), { details: cancel_reason }));
    else message(response);
  });
  stream.write({ create });
  return stop;
}

/**
 * Watches from the revision after `position`. Resolves when the connection is lost or `signal` aborts; the caller can
 * continue from the last delivered revision. Throws Compacted if the history has been compacted. etcd sends all events
 * of a revision in one message. All keys of the store are watched, not only those under the prefix, so that every event
 * shows the progress. Progress requests are not reliable: before etcd 3.4.25 and 3.5.8, responses can overtake events.
 */
export function watchOnce(
  connection: Connection,
  encoding: Encoding,
  { prefix, previous }: WatchFilter,
  position: number,
  signal: AbortSignal,
  deliver: (events: readonly StoreEvent[], revision: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const end = (error?: Error) => {
      hasEnded = true;
      signal.removeEventListener('abort', abort);
      stop();
      if (error) reject(error);
      else resolve();
    };
    const abort = () => end();
    /** Responses whose values are being prepared; later ones follow them. */
    let preparing: Promise<void> | undefined;
    const take = (response: WatchResponse): void => {
      try {
        const revision = response.events.at(-1)?.kv.mod_revision ?? response.header.revision;
        if (hasEnded || signal.aborted || revision <= position) return;
        position = revision;
        deliver(toEvents(response, encoding, prefix, previous), revision);
      } catch (error) {
        end(error as Error);
      }
    };
    const onResponse = (response: WatchResponse) => {
      if (signal.aborted || response.created) return;
      if (response.canceled) return end(new Compacted(response.compact_revision));
      const prepared = encoding.prepare(response.events.flatMap(({ kv, prev_kv }) => (prev_kv ? [kv, prev_kv] : [kv])));
      if (!preparing && !prepared) return take(response);
      const before = preparing ?? Promise.resolve();
      const turn = Promise.all([before, prepared]).then(
        () => {
          if (preparing === turn) preparing = undefined;
          take(response);
        },
        // The connection is made again, and the response comes again.
        () => end(),
      );
      preparing = turn;
    };
    const create = { ...encoding.keys.all(), start_revision: position + 1, prev_kv: previous, progress_notify: true };
    const stop = openStream(connection, create, onResponse, () => end());
    signal.addEventListener('abort', abort);
  });
}

function toEvents({ events }: WatchResponse, encoding: Encoding, prefix: string, previous: boolean): StoreEvent[] {
  const matching: StoreEvent[] = [];
  for (const event of events) {
    const key = encoding.keys.decode(event.kv.key);
    if (key !== '' && key.startsWith(prefix)) matching.push(toEvent(event, key, encoding, previous));
  }
  return matching;
}

/** Throws Compacted for an event without the previous version, which etcd leaves out if it was compacted meanwhile. */
function toEvent(
  { type, kv, prev_kv }: WatchResponse['events'][number],
  key: string,
  encoding: Encoding,
  previous: boolean,
): StoreEvent {
  const deleted = type === DELETE;
  const replaces = deleted || kv.create_revision < kv.mod_revision;
  if (previous && replaces && !prev_kv) throw new Compacted(kv.mod_revision);
  return {
    type: deleted ? 'delete' : 'put',
    key,
    revision: kv.mod_revision,
    created: deleted ? (prev_kv?.create_revision ?? 0) : kv.create_revision,
    version: deleted ? (prev_kv?.version ?? 0) : kv.version,
    value: deleted ? undefined : encoding.decodeValue(kv.value, kv.mod_revision, key),
    replaced: prev_kv?.mod_revision,
    previous:
      previous && prev_kv
        ? { value: encoding.decodeValue(prev_kv.value, prev_kv.mod_revision, key), modified: prev_kv.mod_revision }
        : undefined,
  };
}

/**
 * The revision up to which etcd's history is compacted. etcd reports it in response to a watch from revision 1. The
 * watch is on the store's record, so without compaction its first event shows that nothing is compacted.
 */
export function fetchCompactedRevision(connection: Connection, keys: Keys): Promise<number> {
  return new Promise((resolve, reject) => {
    const onResponse = ({ canceled, compact_revision, events }: WatchResponse) => {
      if (!canceled && events.length === 0) return;
      stop();
      resolve(canceled ? compact_revision : 0);
    };
    const stop = openStream(connection, { key: keys.record, start_revision: 1 }, onResponse, reject);
  });
}
