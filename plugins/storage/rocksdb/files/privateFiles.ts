import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { clearInterval, setInterval } from '../../../../core/runtime/timers.js';

/** RocksDB creates files while it runs, readable by everybody if the umask lets it. */
const INTERVAL_MS = 1000;

/**
 * Errors that are ignored: files that are removed meanwhile need no mode; files of another owner or of a read-only file
 * system keep theirs.
 */
const IGNORED = /^(?:ENOENT|EROFS|EPERM)$/;

/** Removes the permissions of other users from a file or directory; those of its owner stay as they are. */
async function restrict(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, mode & 0o700);
  } catch (error) {
    if (!IGNORED.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/**
 * Keeps other users out of a directory and of all files below it, even if the umask gave them access at the creation.
 */
export async function makePrivate(directory: string): Promise<void> {
  await restrict(directory);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await makePrivate(path);
    else if (entry.isFile()) await restrict(path);
  }
}

/** Keeps other users out of the files that RocksDB creates, within about a second, until it is closed. */
export class PrivateFiles {
  readonly #known = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  private constructor(
    readonly directory: string,
    onError: (error: Error) => void,
  ) {
    this.#timer = setInterval(() => {
      this.#running = this.#restrictNew().catch(onError);
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  /** Begins with the directory and the files that are there. */
  static async begin(directory: string, onError: (error: Error) => void): Promise<PrivateFiles> {
    await restrict(directory);
    const files = new PrivateFiles(directory, onError);
    await files.#restrictNew();
    return files;
  }

  async #restrictNew(): Promise<void> {
    const files = new Set(await readdir(this.directory));
    for (const known of this.#known) if (!files.has(known)) this.#known.delete(known);
    for (const file of files) {
      // Each new CURRENT has the same name.
      if (this.#known.has(file) && file !== 'CURRENT') continue;
      await restrict(join(this.directory, file));
      this.#known.add(file);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
