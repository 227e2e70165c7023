import { ApiError, type RequestOptions, send, type Status } from './http.js';

/** An event of a watch. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** How a watch is followed. */
export interface WatchOptions<T> extends Pick<RequestOptions, 'query' | 'accept'> {
  readonly resourceVersion: string;
  /** Takes the events of one read of the connection. */
  readonly take: (events: readonly WatchEvent<T>[]) => void;
  /** The version of an event or bookmark, where the watch continues after an interruption. */
  readonly versionOf: (object: T) => string | undefined;
  /** Called with false when the connection is lost, and with true when it is restored. */
  readonly connected: (is: boolean) => void;
  readonly signal: AbortSignal;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Whether the list must be read again: the server no longer has the version. */
const isExpired = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 410 || error.reason === 'Expired');

/** Whether asking again cannot help. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && error.code >= 400 && error.code < 429;

/** The lines of a stream, each a JSON document, in batches as they arrive. */
async function* batchesOf<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    const batch = lines.filter(line => line.trim() !== '').map(line => JSON.parse(line) as T);
    if (batch.length > 0) yield batch;
  }
}

/** Follows one connection. Resolves with the version to continue from. Throws ApiError and TypeError. */
async function follow<T>(path: string, from: string, options: WatchOptions<T>): Promise<string> {
  let version = from;
  const query = { ...options.query, watch: 1, allowWatchBookmarks: true, resourceVersion: version };
  const response = await send('GET', path, { ...options, query });
  options.connected(true);
  if (!response.body) return version;
  for await (const events of batchesOf<WatchEvent<T>>(response.body)) {
    const failed = events.find(({ type }) => type === 'ERROR');
    if (failed) {
      const { code = 500, reason = '', message = 'the watch failed' } = failed.object as Status;
      throw new ApiError(code, reason, message, undefined, failed.object as Status);
    }
    for (const { object } of events) version = options.versionOf(object) ?? version;
    options.take(events);
  }
  return version;
}

/**
 * Watches a list and continues after each interruption where it ended, with growing pauses while the server cannot be
 * reached. Resolves with `expired` when the list must be read again, and with `ended` after `signal`. Throws ApiError
 * if the server refuses the watch.
 */
export async function watch<T>(path: string, options: WatchOptions<T>): Promise<'expired' | 'ended'> {
  let version = options.resourceVersion;
  let pause = FIRST_DELAY_MS;
  const { signal } = options;
  while (!signal.aborted) {
    try {
      version = await follow(path, version, options);
      pause = FIRST_DELAY_MS;
    } catch (error) {
      if (signal.aborted) break;
      if (isExpired(error)) return 'expired';
      if (isRefused(error)) throw error;
      options.connected(false);
      pause = Math.min(pause * 2, LONGEST_DELAY_MS);
    }
    await wait(pause, signal);
  }
  return 'ended';
}
