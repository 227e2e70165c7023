import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../core/api/index.js';
import { syncDirectory } from './files.js';

/** How far a store had come, kept apart from it, so that a store that lost its end can be told from a complete one. */
export interface Mark {
  readonly store: string;
  readonly revision: number;
}

/** The least time between two writes of the mark: a loss of less than this at the very end goes unnoticed. */
const INTERVAL_MS = 1000;
const file = (directory: string) => join(directory, 'high-water');

/** Reads the mark; undefined if there is none. Throws StoreError if it is not readable. */
export async function readMark(directory: string): Promise<Mark | undefined> {
  let text: string;
  try {
    text = await readFile(file(directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const [, store, revision] = /^capstan-high-water (\S+) (\d{1,16})\n$/.exec(text) ?? [];
  if (!store) throw new StoreError(`${file(directory)} is damaged; restore it, or run \`capstan store recover\``);
  return { store, revision: Number(revision) };
}

/** Replaces the mark, durably. */
export async function writeMark(directory: string, mark: Mark): Promise<void> {
  const temporary = `${file(directory)}.new`;
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(`capstan-high-water ${mark.store} ${mark.revision}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file(directory));
  await syncDirectory(directory);
}

/** Writes the mark of a running store about once a second while it advances, and at its end. */
export class HighWater {
  #revision: number;
  #written: number;
  #writing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly directory: string,
    readonly store: string,
    revision: number,
    failed: (error: Error) => void,
  ) {
    this.#revision = this.#written = revision;
    this.#timer = setInterval(() => void this.#write().catch(failed), INTERVAL_MS);
    this.#timer.unref();
  }

  /** A revision is durable. */
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
