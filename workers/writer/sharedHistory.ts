import { Compacted, type Storage, type StoreEvent } from '../../core/api/storage.js';
import { PAST_EVENTS_BYTES } from '../../core/limits.js';
import { bytesOf, type Past } from './past.js';

/** Bytes of events that are read at once for all queries. */
const READ_BYTES = 16 * 1024 * 1024;

/** Past changes of the keys below a prefix: those after revision `from`, up to `to`. */
export interface HistoryQuery {
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
}

interface Waiting extends HistoryQuery {
  readonly resolve: (past: Past) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads past changes of a shared store. Its watch covers the whole store, so queries share one: watches that resume
 * together, as all do after a restart, cost one read. Queries that arrive during a read share the next.
 */
export class SharedHistory {
  #waiting: Waiting[] = [];
  #isReading = false;

  constructor(readonly storage: Storage) {}

  /** Resolves with a first part of the changes. Rejects with Compacted if part of the range is no longer kept. */
  read(query: HistoryQuery): Promise<Past> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...query, resolve, reject });
      void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    let batch: readonly Waiting[] = [];
    while (batch.length > 0 || this.#waiting.length > 0)
      batch = await this.#answer(batch.length > 0 ? batch : this.#waiting.splice(0));
    this.#isReading = false;
  }

  /** Answers queries. Returns those to be read next, without others: they begin later, or can be read again. */
  async #answer(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      const { found, reached } = await this.#eventsOf(batch);
      return batch.filter(({ prefix, from, to, resolve }) => {
        if (from < to && reached <= from) return true;
        const events = found.get(prefix)!.filter(({ revision }) => revision > from && revision <= to);
        resolve({ events, revision: Math.min(Math.max(from, reached), to) });
        return false;
      });
    } catch (error) {
      // Only the queries that begin before the compacted revision fail; the others are read again without them.
      const fails = (query: HistoryQuery) => !(error instanceof Compacted) || query.from < error.compactedRevision;
      const failed = batch.filter(fails);
      const others = batch.filter(query => !fails(query));
      for (const query of failed) query.reject(error);
      if (failed.length > 0) return others;
      for (const query of others) query.reject(error);
      return [];
    }
  }

  /** The events of each prefix, over the range that covers all queries or a first part of it, up to `reached`. */
  async #eventsOf(
    batch: readonly Waiting[],
  ): Promise<{ readonly found: ReadonlyMap<string, readonly StoreEvent[]>; readonly reached: number }> {
    const found = new Map(batch.map(({ prefix }): [string, StoreEvent[]] => [prefix, []]));
    const bytes = new Map<string, number>();
    const from = Math.min(...batch.map(query => query.from));
    const to = Math.max(...batch.map(query => query.to));
    const stop = new AbortController();
    let reached = from;
    let total = 0;
    let most = 0;
    const take = (events: readonly StoreEvent[], revision: number): void => {
      for (const event of events) {
        const size = bytesOf(event);
        total += size;
        for (const [prefix, all] of found) {
          if (!event.key.startsWith(prefix)) continue;
          all.push(event);
          const sum = (bytes.get(prefix) ?? 0) + size;
          bytes.set(prefix, sum);
          most = Math.max(most, sum);
        }
      }
      reached = revision;
      if (revision >= to || most >= PAST_EVENTS_BYTES || total >= READ_BYTES) stop.abort();
    };
    if (from < to) await this.storage.watch('', from, take, stop.signal);
    return { found, reached };
  }
}
