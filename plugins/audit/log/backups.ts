import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Which rotated logs are kept, and how. */
export interface BackupOptions {
  /** 0: all. */
  readonly maxBackups: number;
  /** Milliseconds; 0: for ever. */
  readonly maxAgeMs: number;
  readonly compresses: boolean;
}

/** A rotated log. */
interface Backup {
  readonly file: string;
  /** When it was rotated, in milliseconds since the epoch. */
  readonly at: number;
  readonly isCompressed: boolean;
}

const GZ = '.gz';
/** The end of the name of a file that is being compressed. */
const PART = '.gz.part';
/** Threads may still write to a log that another one has just renamed: it is not compressed before this time. */
const SETTLED_MS = 1000;
/** A file that is still claimed, or not compressed completely, after this time belongs to a server that has ended. */
const ABANDONED_MS = 3_600_000;

const TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Ignores that a file does not exist: another thread may have removed it. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The rotated logs next to a log: `audit-2030-01-31T08-00-00.000.log` next to `audit.log`. */
export class Backups {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #extension: string;

  constructor(
    path: string,
    readonly options: BackupOptions,
    readonly now: () => number,
  ) {
    this.#folder = dirname(path);
    this.#extension = extname(path);
    this.#prefix = `${basename(path, this.#extension)}-`;
  }

  /** Makes an empty file under a name that no rotated log has, to be replaced by the log. Returns its path. */
  async claim(): Promise<string> {
    for (let at = this.now(); ; at++) {
      const time = new Date(at).toISOString().replaceAll(':', '-').replace('Z', '');
      const file = join(this.#folder, `${this.#prefix}${time}${this.#extension}`);
      try {
        await (await open(file, 'wx', 0o600)).close();
        return file;
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }
  }

  /** Removes rotated logs that are too old or too many, and compresses the others if that is configured. */
  async clean(): Promise<void> {
    const { maxBackups, maxAgeMs, compresses } = this.options;
    if (maxBackups === 0 && maxAgeMs === 0 && !compresses) return;
    const all = await this.#settled();
    const times = [...new Set(all.map(({ at }) => at))].sort((a, b) => b - a);
    const kept = new Set(maxBackups > 0 ? times.slice(0, maxBackups) : times);
    const oldest = maxAgeMs > 0 ? this.now() - maxAgeMs : Number.NEGATIVE_INFINITY;
    for (const { file, at, isCompressed } of all)
      if (!kept.has(at) || at < oldest) await unlessGone(unlink(file));
      else if (compresses && !isCompressed) await unlessGone(this.#compress(file));
  }

  /** The rotated logs, without names that a thread has claimed at this moment, which must not displace others. */
  async #settled(): Promise<readonly Backup[]> {
    const settled: Backup[] = [];
    for (const backup of await this.#list())
      await unlessGone(
        stat(backup.file).then(({ size, mtimeMs }) => {
          if (size > 0 || this.now() - mtimeMs > ABANDONED_MS) settled.push(backup);
        }),
      );
    return settled;
  }

  async #list(): Promise<readonly Backup[]> {
    const names = await readdir(this.#folder);
    return names.flatMap((name): Backup[] => {
      const isCompressed = name.endsWith(GZ);
      const end = this.#extension + (isCompressed ? GZ : '');
      if (!name.startsWith(this.#prefix) || !name.endsWith(end)) return [];
      const time = name.slice(this.#prefix.length, name.length - end.length);
      if (!TIME.test(time)) return [];
      const [day = '', hours = ''] = time.split('T');
      const at = Date.parse(`${day}T${hours.replaceAll('-', ':')}Z`);
      return Number.isNaN(at) ? [] : [{ file: join(this.#folder, name), at, isCompressed }];
    });
  }

  /**
   * Compresses a rotated log. If it was written a moment ago, it is left for the next time. The result is complete when
   * it has its name, and then the log is removed.
   */
  async #compress(file: string): Promise<void> {
    const { size, mtimeMs, mode } = await stat(file);
    if (size === 0 || this.now() - mtimeMs < SETTLED_MS) return;
    const part = `${file}${PART}`;
    const written = { flags: 'wx', mode: mode & 0o777 };
    try {
      await pipeline(createReadStream(file), createGzip(), createWriteStream(part, written));
    } catch (error) {
      // Another thread compresses it.
      if (codeOf(error) !== 'EEXIST') throw error;
      if (this.now() - (await stat(part)).mtimeMs > ABANDONED_MS) await unlink(part);
      return;
    }
    await rename(part, `${file}${GZ}`);
    await unlink(file);
  }
}
