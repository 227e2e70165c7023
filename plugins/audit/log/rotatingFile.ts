import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import type { Host } from '../../../core/api/index.js';
import { AUDIT_BUFFER_BYTES } from '../../../core/limits.js';
import { type Resolvers, withResolvers } from '../../../core/runtime/withResolvers.js';
import { type BackupOptions, Backups } from './backups.js';

/** When a file is rotated, and how much is kept of it. */
export interface RotationOptions extends BackupOptions {
  /** Largest size of a file. */
  readonly maxBytes: number;
}

/** Lines that wait for the file system. */
interface Appended extends Resolvers<void> {
  readonly lines: Buffer;
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * A file that is appended to, and renamed when it would be too large. Several threads may have the same one, and it may
 * be renamed by others: each looks before it writes whether its file still has the name. Lines that are written
 * together are one write, so that they do not mix with others.
 */
export class RotatingFile {
  readonly #backups: Backups;
  #handle: FileHandle | undefined;
  #waiting: Appended[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;
  #cleaning: Promise<void> = Promise.resolve();

  constructor(
    readonly path: string,
    readonly options: RotationOptions,
    readonly host: Pick<Host, 'log' | 'now'>,
  ) {
    this.#backups = new Backups(path, options, host.now);
  }

  /** Appends whole lines. Resolves when the operating system has them; rejects if they could not be written. */
  append(text: string): Promise<void> {
    const lines = Buffer.from(text);
    if (lines.length > this.options.maxBytes)
      return Promise.reject(new Error(`${lines.length} bytes are more than a file may have`));
    if (this.#bytes + lines.length > AUDIT_BUFFER_BYTES)
      return Promise.reject(new Error('the file system does not keep up'));
    this.#bytes += lines.length;
    const appended = { lines, ...withResolvers<void>() };
    this.#waiting.push(appended);
    this.#running ??= this.#run();
    return appended.promise;
  }

  /** Resolves when everything is written, and rotated files are cleaned up. */
  async close(): Promise<void> {
    await this.#running;
    await this.#cleaning;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Writes the waiting lines. Lines that arrive meanwhile are written together in the next step. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      let batch: Appended[] = [];
      try {
        const room = await this.#open();
        batch = this.#take(room);
        if (batch.length === 0) {
          await this.#rotate();
          continue;
        }
        await this.#writeAll(Buffer.concat(batch.map(({ lines }) => lines)));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (batch.length === 0) batch = this.#waiting.splice(0);
        await this.#handle?.close().catch(() => undefined);
        this.#handle = undefined;
        for (const { reject } of batch) reject(error as Error);
      }
      this.#bytes -= batch.reduce((sum, { lines }) => sum + lines.length, 0);
    }
    this.#running = undefined;
  }

  /** Removes and returns the waiting lines that fit into a number of bytes. */
  #take(room: number): Appended[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ lines }) => (bytes += lines.length) > room);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length)
      written += (await this.#handle!.write(bytes, written, bytes.length - written)).bytesWritten;
  }

  /** Opens the file that has the name now; a new file gets the mode of the previous one. Returns its room in bytes. */
  async #open(): Promise<number> {
    let named = await this.#named();
    const own = await this.#handle?.stat();
    if (!named || !own || named.ino !== own.ino || named.dev !== own.dev) {
      await this.#handle?.close();
      this.#handle = undefined;
      const isFirst = own === undefined;
      this.#handle = await open(this.path, 'a', own ? own.mode & 0o777 : 0o600);
      named = await this.#handle.stat();
      if (isFirst) this.#clean();
    }
    return this.options.maxBytes - named.size;
  }

  async #named() {
    try {
      return await stat(this.path);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** Renames the file, unless another thread has just done so. */
  async #rotate(): Promise<void> {
    const own = await this.#handle!.stat();
    const backup = await this.#backups.claim();
    let isRenamed = false;
    try {
      const named = await this.#named();
      if (named?.ino === own.ino) isRenamed = await rename(this.path, backup).then(() => true);
    } catch (error) {
      if (!isGone(error)) throw error;
    } finally {
      if (!isRenamed) await unlink(backup);
    }
    if (isRenamed) this.#clean();
  }

  #clean(): void {
    this.#cleaning = this.#cleaning
      .then(() => this.#backups.clean())
      .catch((error: Error) =>
        this.host.log.error({ error: error.message }, 'rotated audit logs could not be cleaned up'),
      );
  }
}
