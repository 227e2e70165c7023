import { LONGEST_TIMER_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import type { Connection } from './connection.js';
import { Txn, type TxnResponse } from './protocol.js';
import { versionEquals } from './transaction.js';
import type { Keys } from './values.js';

/**
 * Compacts etcd's history by time. Of the servers that share a store, one compacts in each interval: the one that
 * succeeds in writing the next version of a common key. It compacts up to the revision of the previous interval.
 */
export class Compactor {
  #timer: NodeJS.Timeout | undefined;
  /** The last known version of the common key. */
  #version = 0;
  /** The revision that was current when `#version` was read. */
  #revision = 0;

  constructor(
    readonly connection: Connection,
    readonly keys: Keys,
    readonly intervalMs: number,
    readonly compact: (revision: number) => Promise<void>,
  ) {
    this.#wait(intervalMs);
  }

  /** Compacts after this time, which may be longer than timers are, and then after each interval. */
  #wait(milliseconds: number): void {
    const part = Math.min(milliseconds, LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => {
      if (part < milliseconds) return this.#wait(milliseconds - part);
      // A failed attempt is repeated after an interval.
      void this.tryCompact().catch(() => undefined);
      this.#wait(this.intervalMs);
    }, part).unref();
  }

  /**
   * Compacts if no other server does in this interval. Resolves with the compacted revision, or 0 without compaction.
   */
  async tryCompact(): Promise<number> {
    const key = this.keys.compaction;
    const old = this.#revision;
    const response: TxnResponse = await this.connection.call(Txn, {
      compare: [versionEquals(key, this.#version)],
      success: [{ put: { key, value: Buffer.from(String(old)) } }],
      failure: [{ range: { key } }],
    });
    this.#revision = response.header.revision;
    this.#version = response.succeeded ? this.#version + 1 : (response.responses[0]?.range?.kvs[0]?.version ?? 0);
    if (!response.succeeded || old === 0) return 0;
    await this.compact(old);
    return old;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
