import { fdatasyncSync } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../files/files.js';
import type { LogContent } from './logContent.js';
import { encodeRecord, type Operation, recordBytes } from '../record.js';
import { createSegment, logPath, SEGMENT_HEADER, type SegmentFile, writeAll, writeHeader } from './segment.js';

/** Size of the first segment of a log: small, because a new store is ready only after it is on the disk. */
const FIRST_BYTES = 512 * 1024;
/** Each segment is this many times as large as the previous one, up to the maximum. */
const GROWTH = 4;
/** The size from which segments no longer grow. A record that is longer gets a segment of its own size. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The largest buffer that is kept between records. */
const KEPT_BUFFER_BYTES = 4 * 1024 * 1024;

/** A segment that has been begun, with its last record. */
interface Segment extends SegmentFile {
  readonly generation: number;
  last: number;
}

/**
 * The commit log: durable batches in the order in which they are applied to the database. Appending blocks the thread
 * for one write and one sync, which is faster than waking another thread for them. A segment whose records are all
 * durable in the database is reused. After a failed write or sync every append fails, because it is unknown which
 * records have reached the disk. Only one process may have a log open: the lock of the database ensures this.
 */
export class CommitLog {
  #current: Segment;
  #seed: number;
  /** The position of the next record in the current segment. */
  #at = SEGMENT_HEADER;
  #last: number;
  /** Segments that are full and contain records that the database may lose, oldest first. */
  readonly #full: Segment[] = [];
  readonly #spare: SegmentFile[] = [];
  #preparing: Promise<void> | undefined;
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #failure: Error | undefined;

  private constructor(
    readonly directory: string,
    readonly store: string,
    file: SegmentFile,
    generation: number,
    first: number,
    seed: number,
  ) {
    this.#last = first - 1;
    this.#current = { ...file, generation, last: this.#last };
    this.#seed = seed;
  }

  /** Creates the log of a store. Its first record gets the number `first`. On failure, nothing is left behind. */
  static async create(path: string, store: string, first: number): Promise<CommitLog> {
    const directory = logPath(path);
    // A crash may have left a log that has never been begun.
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { mode: 0o700 });
    let file: SegmentFile | undefined;
    try {
      file = await createSegment(directory, FIRST_BYTES);
      const seed = writeHeader(file, { store, generation: 1, oldest: 1, first, closed: false });
      await syncDirectory(dirname(directory));
      return new CommitLog(directory, store, file, 1, first, seed);
    } catch (error) {
      await file?.handle.close();
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Continues a log from number `first`. All its records must be durable in the database: one of its segments is
   * reused.
   */
  static async resume(path: string, content: LogContent, first: number): Promise<CommitLog> {
    const files: SegmentFile[] = [];
    try {
      for (const file of content.files) {
        const handle = await open(file, 'r+');
        files.push({ path: file, handle, size: (await stat(file)).size });
      }
      files.sort((a, b) => Math.min(b.size, MAX_BYTES) - Math.min(a.size, MAX_BYTES));
      const [file, ...others] = files as [SegmentFile, ...SegmentFile[]];
      const generation = content.generation + 1;
      const { store } = content;
      const seed = writeHeader(file, { store, generation, oldest: generation, first, closed: false });
      const log = new CommitLog(logPath(path), store, file, generation, first, seed);
      for (const other of others) await log.#release(other);
      return log;
    } catch (error) {
      for (const { handle } of files) await handle.close().catch(() => {});
      throw error;
    }
  }

  /** The number of the last record. */
  get last(): number {
    return this.#last;
  }

  /** Whether a segment waits for the database: its next write should be synced, followed by `retire`. */
  get hasFullSegments(): boolean {
    return this.#full.length > 0;
  }

  /** Whether a record with operations of this many bytes fits into the current segment. */
  hasRoom(operations: number): boolean {
    return this.#at + recordBytes(operations) <= this.#current.size;
  }

  /**
   * Appends a batch whose operations have this many bytes, for which there must be room. It is durable then. Blocks the
   * thread. Throws the error of the system.
   */
  append(operations: readonly Operation[], bytes: number): void {
    if (this.#failure) throw this.#failure;
    try {
      const sequence = this.#last + 1;
      const buffer = this.#bufferFor(recordBytes(bytes));
      const length = encodeRecord(buffer, sequence, operations, this.#seed);
      const { fd } = this.#current.handle;
      writeAll(fd, buffer, length, this.#at);
      fdatasyncSync(fd);
      this.#at += length;
      this.#last = this.#current.last = sequence;
    } catch (error) {
      throw (this.#failure = error as Error);
    }
    if (this.#at > this.#current.size / 2 && this.#spare.length === 0) void this.#prepare().catch(() => {});
  }

  /**
   * Begins the next segment if operations of this many bytes do not fit into the current one. Nothing may be appended
   * until it has resolved. Rejects with the error of the system.
   */
  async makeRoom(operations: number): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.hasRoom(operations)) return;
    try {
      const size = SEGMENT_HEADER + recordBytes(operations);
      const next = (await this.#takeSpare(size)) ?? (await createSegment(this.directory, this.#nextSize(size)));
      const generation = this.#current.generation + 1;
      this.#full.push(this.#current);
      this.#begin(next, generation, this.#full[0]!.generation);
    } catch (error) {
      throw (this.#failure ??= error as Error);
    }
  }

  /** Frees the segments whose records have numbers up to `sequence`: those are durable in the database. */
  async retire(sequence: number): Promise<void> {
    while (this.#full.length > 0 && this.#full[0]!.last <= sequence) await this.#release(this.#full.shift()!);
  }

  /**
   * Closes the log. With `complete`, all records are durable in the database, and the next open has nothing to apply.
   */
  async close(complete: boolean): Promise<void> {
    const generation = this.#current.generation + 1;
    if (complete && !this.#failure) this.#begin(this.#current, generation, generation, true);
    await this.#preparing?.catch(() => {});
    for (const { handle } of [this.#current, ...this.#full, ...this.#spare]) await handle.close();
  }

  /** Closes a log that was created and not used, and removes it. */
  async remove(): Promise<void> {
    await this.close(false);
    await rm(this.directory, { recursive: true, force: true });
  }

  #begin(file: SegmentFile, generation: number, oldest: number, closed = false): void {
    this.#seed = writeHeader(file, { store: this.store, generation, oldest, first: this.#last + 1, closed });
    this.#current = { path: file.path, handle: file.handle, size: file.size, generation, last: this.#last };
    this.#at = SEGMENT_HEADER;
  }

  #nextSize(atLeast: number): number {
    return Math.max(atLeast, Math.min(MAX_BYTES, this.#current.size * GROWTH));
  }

  /** Creates the next segment in the background, so that no commit waits for it. */
  #prepare(): Promise<void> {
    this.#preparing ??= createSegment(this.directory, this.#nextSize(0))
      .then(file => void this.#spare.push(file))
      .finally(() => (this.#preparing = undefined));
    return this.#preparing;
  }

  async #takeSpare(size: number): Promise<SegmentFile | undefined> {
    // If it failed, creating a segment is tried again.
    await this.#preparing?.catch(() => {});
    const found = this.#spare.findIndex(spare => spare.size >= size);
    return found < 0 ? undefined : this.#spare.splice(found, 1)[0];
  }

  /** Keeps a segment as spare if there is none, otherwise removes it. */
  async #release(file: SegmentFile): Promise<void> {
    const { size } = file;
    if (this.#spare.length === 0 && size >= Math.min(this.#current.size, MAX_BYTES) && size <= MAX_BYTES) {
      this.#spare.push(file);
      return;
    }
    await rm(file.path, { force: true });
    await file.handle.close();
  }

  #bufferFor(bytes: number): Buffer {
    if (bytes <= this.#buffer.length) return this.#buffer;
    const larger = Buffer.allocUnsafe(Math.ceil(bytes * 1.5));
    if (larger.length <= KEPT_BUFFER_BYTES) this.#buffer = larger;
    return larger;
  }
}
