import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../../core/api/index.js';
import { clearInterval, setInterval } from '../../../../core/runtime/timers.js';
import { syncDirectory } from './files.js';

/** The revision that a store has reached, kept in a separate file to detect the loss of the last revisions. */
export interface Mark {
  readonly store: string;
  readonly revision: number;
}

/** Time between two writes of the mark. The loss of revisions since the last one is not detected. */
const INTERVAL_MS = 1000;
const markFile = (directory: string) => join(directory, 'high-water');

/** Reads the mark; undefined if there is none. Throws StoreError if it is damaged. */
export async function readMark(directory: string): Promise<Mark | undefined> {
  let text: string;
  try {
    text = await readFile(markFile(directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const [, store, revision] = /^capstan-high-water (\S+) (\d{1,16})\n$/.exec(text) ?? [];
  if (!store) throw new StoreError(`${markFile(directory)} is damaged; restore it, or run \`capstan store recover\``);
  return { store, revision: Number(revision) };
}

/** Replaces the mark durably. */
export async function writeMark(directory: string, mark: Mark): Promise<void> {
  const temporary = `${markFile(directory)}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(`capstan-high-water ${mark.store} ${mark.revision}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, markFile(directory));
  await syncDirectory(directory);
}

/** Writes the mark of a running store about once a second, if it has advanced, and when the store is closed. */
export class HighWaterMark {
  #revision: number;
  #written: number;
  #writing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly directory: string,
    readonly store: string,
    revision: number,
    onError: (error: Error) => void,
  ) {
    this.#revision = this.#written = revision;
    this.#timer = setInterval(() => void this.#write().catch(onError), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Records that a revision has become durable. */
  advance(revision: number): void {
    this.#revision = revision;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing.catch(() => {});
    await this.#write();
  }

  #write(): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        const revision = this.#revision;
        if (revision === this.#written) return;
        await writeMark(this.directory, { store: this.store, revision });
        this.#written = revision;
      });
    return this.#writing;
  }
}
