import type { Connection } from './connection.js';
import { Compact, Txn, type TxnResponse } from './protocol.js';
import { changed } from './transaction.js';
import type { Keys } from './values.js';

/**
 * Compacts etcd's history by time, in one of the processes over a store: each in turn tries, at every interval, to
 * write the next version of one key. Who does is the compactor of this interval, and compacts what was current when the
 * key was written before.
 */
export class Compactor {
  readonly #timer: NodeJS.Timeout;
  /** The key's version as last seen, and the revision that was current then. */
  #version = 0;
  #revision = 0;

  constructor(
    readonly connection: Connection,
    readonly keys: Keys,
    intervalMs: number,
    readonly compact: (revision: number) => Promise<void>,
  ) {
    // What cannot be done now is done an interval later.
    this.#timer = setInterval(() => void this.turn().catch(() => undefined), intervalMs);
    this.#timer.unref();
  }

  /**
   * One interval's turn; resolves with the revision it compacted, 0 if it was another process's turn or there is
   * nothing old yet.
   */
  async turn(): Promise<number> {
    const key = this.keys.compaction;
    const old = this.#revision;
    const response: TxnResponse = await this.connection.call(Txn, {
      compare: [changed(key, this.#version)],
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
    clearInterval(this.#timer);
  }
}

/** Forgets history up to `revision` in etcd. */
export const compactEtcd = (connection: Connection, revision: number): Promise<unknown> =>
  connection.call(Compact, { revision, physical: false });
