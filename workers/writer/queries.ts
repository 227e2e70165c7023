import { Compacted, FutureRevision, type Storage, type StoreEvent, Unavailable } from '../../core/api/storage.js';
import type { FromWriter, HistoryRequest, RangeRequest } from '../../core/threads/messages/messages.js';
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

/** Reads past changes. Throws Compacted. */
export async function readHistory(
  storage: Storage,
  shared: SharedHistory | undefined,
  request: HistoryRequest,
): Promise<Answer> {
  const past = await (shared ? shared.read(request) : readEvents(storage, request));
  const events = past.map(({ key, revision, created, value, previous }) => ({
    key,
    revision,
    created,
    value,
    previous: previous?.value,
  }));
  return { is: 'past', requestId: request.requestId, events };
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

async function readEvents(storage: Storage, { prefix, from, to }: HistoryRequest): Promise<readonly StoreEvent[]> {
  const stop = new AbortController();
  const events: StoreEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const take = (batch: readonly StoreEvent[], revision: number): void => {
      for (const event of batch) if (event.revision <= to) events.push(event);
      if (revision < to) return;
      stop.abort();
      resolve();
    };
    storage.watch(prefix, from, take, stop.signal).then(resolve, reject);
  });
  return events;
}
