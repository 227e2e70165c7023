import { StoreError } from '../../../../core/api/index.js';
import { clearTimeout, setTimeout } from '../../../../core/runtime/timers.js';
import type { Batch, Records, Row } from '../../engine/records.js';
import type { CommitLog } from './commitLog.js';
import { encodePosition, POSITION_KEY } from './position.js';
import { type Operation, operationBytes } from '../record.js';
import type { RocksDbRecords } from '../records.js';

/**
 * How long writes are collected for one batch of the database. The commit log has them meanwhile. A longer time saves
 * wake-ups, but a store on a full disk then needs more free space to be opened (docs/decisions/0033).
 */
const COLLECT_MS = 20;
/** Bytes that are written to the database without waiting for more. */
const BATCH_BYTES = 1024 * 1024;
/** Bytes that may wait for the database; further writes wait until it has taken them. */
const WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Records in RocksDB behind a commit log. A write is complete when the log has it durably, with `sync` or without: the
 * log has to have all writes in their order, so that they can be applied again. RocksDB gets it a little later, with
 * others, without a sync, in the same order. Reads wait until RocksDB has all writes before them. After a failed write
 * of RocksDB, reads and writes reject.
 */
export class LoggedRecords implements Records {
  /** The database's next batch: the records in the log that are not passed to RocksDB yet. */
  #collected: { readonly batch: Batch; bytes: number } | undefined;
  /** Bytes that are collected or being written. */
  #waiting = 0;
  /** The number of the last record that RocksDB has. */
  #applied: number;
  #applying: Promise<void> | undefined;
  /** Writes that wait for room, in order. */
  #blocked: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #resolveFailed: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>(resolve => (this.#resolveFailed = resolve));

  constructor(
    readonly database: RocksDbRecords,
    readonly log: CommitLog,
  ) {
    this.#applied = log.last;
  }

  batch(): Batch {
    const operations: Operation[] = [];
    let bytes = 0;
    const add = (key: Buffer, value: Buffer | undefined) => {
      bytes += operationBytes(key, value);
      operations.push({ key, value });
    };
    return { put: add, remove: key => add(key, undefined), write: () => this.#write(operations, bytes) };
  }

  async getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    if (this.#applied < this.log.last) await this.#applyAll();
    return this.database.getMany(keys);
  }

  async *scan(from: Buffer, to: Buffer, bytes?: number): AsyncIterable<readonly Row[]> {
    await this.#applyAll();
    yield* this.database.scan(from, to, bytes);
  }

  /** Passes all writes to RocksDB, makes them durable there, and closes the log as complete; then closes both. */
  async close(): Promise<void> {
    let complete = false;
    try {
      await this.#blocked?.catch(() => {});
      // After a failed append, the records that were acknowledged before it are still applied.
      await this.#applyAll();
      const batch = this.database.batch();
      batch.put(POSITION_KEY, encodePosition({ sequence: this.#applied, closed: true }));
      await batch.write(true);
      complete = true;
    } catch (error) {
      // A failure that was reported before is expected. The next open applies the log.
      if (!this.#failure) throw error;
    } finally {
      clearTimeout(this.#timer);
      await this.log.close(complete).finally(() => this.database.close());
    }
  }

  #write(operations: readonly Operation[], bytes: number): Promise<void> {
    if (!this.#blocked && this.#waiting < WAITING_BYTES && this.log.hasRoom(bytes)) {
      try {
        this.#append(operations, bytes);
        return Promise.resolve();
      } catch (error) {
        return Promise.reject(error as Error);
      }
    }
    const written = (this.#blocked ?? Promise.resolve()).then(async () => {
      if (this.#waiting >= WAITING_BYTES) await this.#applyAll();
      await this.log.makeRoom(bytes);
      this.#append(operations, bytes);
    });
    const blocked = written
      .catch(() => {})
      .finally(() => {
        if (this.#blocked === blocked) this.#blocked = undefined;
      });
    this.#blocked = blocked;
    return written;
  }

  #append(operations: readonly Operation[], bytes: number): void {
    if (this.#failure) throw this.#failure;
    this.log.append(operations, bytes);
    this.#collected ??= { batch: this.database.batch(), bytes: 0 };
    const { batch } = this.#collected;
    for (const { key, value } of operations)
      if (value) batch.put(key, value);
      else batch.remove(key);
    this.#collected.bytes += bytes;
    this.#waiting += bytes;
    if (this.#collected.bytes >= BATCH_BYTES) this.#apply();
    else this.#timer ??= setTimeout(() => this.#apply(), COLLECT_MS);
  }

  /** Resolves when RocksDB has all that is in the log now. Rejects after a failed write. */
  async #applyAll(): Promise<void> {
    const target = this.log.last;
    while (this.#applied < target) {
      if (this.#failure) throw this.#failure;
      this.#apply();
      await this.#applying;
    }
  }

  /** Starts to write the collected records, unless a write is running, after which the next one starts. */
  #apply(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#applying || !this.#collected || this.#failure) return;
    this.#applying = this.#writeCollected(this.#collected)
      .catch(error => this.#fail(error as Error))
      .finally(() => {
        this.#applying = undefined;
        // The timer has ended meanwhile, or there is enough for a batch.
        if (this.#collected && !this.#timer) this.#apply();
      });
  }

  async #writeCollected({ batch, bytes }: { readonly batch: Batch; readonly bytes: number }): Promise<void> {
    this.#collected = undefined;
    const sequence = this.log.last;
    const retires = this.log.hasFullSegments;
    batch.put(POSITION_KEY, encodePosition({ sequence, closed: false }));
    await batch.write(retires);
    this.#applied = sequence;
    this.#waiting -= bytes;
    if (retires) await this.log.retire(sequence);
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = new StoreError(error.message, { cause: error });
    this.#resolveFailed(this.#failure);
  }
}
