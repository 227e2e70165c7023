import type { Log } from '../api/host.js';

interface Closer {
  readonly name: string;
  readonly close: () => unknown;
}

/** The functions that close what a thread and its plugins have opened, called in reverse order when the thread ends. */
export class Closers {
  readonly #all: Closer[] = [];

  /** Adds a function. `name` is used in the log: `the store`, `plugin audit`. */
  readonly add = (name: string, close: () => unknown): void => void this.#all.push({ name, close });

  /** Calls all functions once, the last one first. If one fails, the error is logged and the others are called. */
  async closeAll(log: Log): Promise<void> {
    for (const { name, close } of this.#all.splice(0).reverse())
      try {
        await close();
      } catch (error) {
        const { message = String(error), stack } = (error ?? {}) as Partial<Error>;
        log.error({ stack }, `closing ${name}: ${message}`);
      }
  }
}
