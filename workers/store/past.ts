import { Compacted, type Storage, type StoreEvent } from '../../core/api/storage.js';

/** A question for past changes of a part of the store: those above `from`, up to `to`. */
export interface PastAsked {
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
}

interface Waiting extends PastAsked {
  readonly resolve: (events: readonly StoreEvent[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Past changes of a shared store. Its watch looks at everything, so that watches which resume together, as all do after
 * a restart, share one look: who asks while it is under way shares the next.
 */
export class SharedPast {
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(readonly storage: Storage) {}

  /** Rejects with Compacted where history is gone. */
  read(asked: PastAsked): Promise<readonly StoreEvent[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...asked, resolve, reject });
      void this.#next();
    });
  }

  async #next(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#answer(batch);
    }
    this.#busy = false;
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    try {
      const events = await this.#look(batch);
      for (const { prefix, from, to, resolve } of batch)
        resolve(events.get(prefix)!.filter(({ revision }) => revision > from && revision <= to));
    } catch (error) {
      // Those who are late must not spoil it for the others.
      const late = (asked: PastAsked) => !(error instanceof Compacted) || asked.from < error.compactedRevision;
      for (const asked of batch.filter(late)) asked.reject(error);
      const rest = batch.filter(asked => !late(asked));
      if (rest.length < batch.length) this.#waiting.push(...rest);
      else for (const asked of rest) asked.reject(error);
    }
  }

  /** The events for each prefix that is asked for. */
  async #look(batch: readonly Waiting[]): Promise<Map<string, StoreEvent[]>> {
    const found = new Map(batch.map(({ prefix }): [string, StoreEvent[]] => [prefix, []]));
    const from = Math.min(...batch.map(asked => asked.from));
    const to = Math.max(...batch.map(asked => asked.to));
    const stop = new AbortController();
    const take = (events: readonly StoreEvent[], revision: number): void => {
      for (const event of events) for (const [prefix, all] of found) if (event.key.startsWith(prefix)) all.push(event);
      if (revision >= to) stop.abort();
    };
    if (from < to) await this.storage.watch('', from, take, stop.signal);
    return found;
  }
}
