import { Compacted, FutureRevision, type Storage, type StoreEvent, Unavailable } from '../../core/api/storage.js';
import type { FromWriter, HistoryRequest, RangeRequest } from '../../core/threads/messages/messages.js';
import { PAST_EVENTS_BYTES } from '../../core/limits.js';
import { bytesOf, type Past } from './past.js';
import type { SharedHistory } from './sharedHistory.js';

/** The answer to a request. */
export type Answer = Extract<FromWriter, { requestId: number }>;
type Failed = Extract<FromWriter, { is: 'failed' }>;

/** The answer to a request that failed. */
export function failedAnswer(requestId: number, error: unknown): Failed {
  return { is: 'failed', requestId, reason: reasonOf(error), message: String((error as Error).message) };
}

function reasonOf(error: unknown): Failed['reason'] {
  if (error instanceof Compacted) return 'compacted';
  if (error instanceof FutureRevision) return 'future';
  return error instanceof Unavailable ? 'unavailable' : 'error';
}

/** Reads objects as they were at a revision. */
export async function readRange(
  storage: Storage,
  { requestId, prefix, revision, limit, after, counted }: RangeRequest,
): Promise<Answer> {
  const page = await storage.range(prefix, {
    revision,
    limit: limit || undefined,
    after: after || undefined,
    counted,
  });
  const items = page.items.map(({ key, modified, created, value, version }) => ({
    key,
    revision: modified,
    created,
    value,
    version,
  }));
  return { is: 'page', requestId, revision: page.revision, items, more: page.more, remaining: page.remaining };
}

/** Reads past changes, about PAST_EVENTS_BYTES of them, or fewer if there are no more. Throws Compacted. */
export async function readHistory(
  storage: Storage,
  shared: SharedHistory | undefined,
  request: HistoryRequest,
): Promise<Answer> {
  const past = await (shared ? shared.read(request) : readEvents(storage, request));
  const events = past.events.map(({ key, revision, created, value, previous }) => ({
    key,
    revision,
    created,
    value,
    previous: previous?.value,
  }));
  return { is: 'past', requestId: request.requestId, revision: past.revision, events };
}

/** Tests the store. */
export async function check(storage: Storage, requestId: number): Promise<Answer> {
  try {
    await storage.check();
    return { is: 'checked', requestId };
  } catch (error) {
    return { is: 'checked', requestId, error: String(error) };
  }
}

async function readEvents(storage: Storage, { prefix, from, to }: HistoryRequest): Promise<Past> {
  const stop = new AbortController();
  const events: StoreEvent[] = [];
  let bytes = 0;
  return await new Promise<Past>((resolve, reject) => {
    const take = (batch: readonly StoreEvent[], revision: number): void => {
      for (const event of batch) {
        if (event.revision > to) break;
        events.push(event);
        bytes += bytesOf(event);
      }
      if (revision < to && bytes < PAST_EVENTS_BYTES) return;
      stop.abort();
      resolve({ events, revision: Math.min(revision, to) });
    };
    storage.watch(prefix, from, take, stop.signal).catch(reject);
  });
}
