import type { Log } from '../api/host.js';

interface Release {
  readonly name: string;
  readonly run: () => unknown;
}

/** The release functions of a thread and its plugins, which are called in reverse order when the thread ends. */
export class Releases {
  readonly #all: Release[] = [];

  /** Adds a release function. `name` is used in the log: `the store`, `plugin audit`. */
  readonly add = (name: string, run: () => unknown): void => void this.#all.push({ name, run });

  /**
   * Calls all release functions once, the last one first. If one fails, the error is logged and the others are called.
   */
  async run(log: Log): Promise<void> {
    for (const { name, run } of this.#all.splice(0).reverse())
      try {
        await run();
      } catch (error) {
        const { message = String(error), stack } = (error ?? {}) as Partial<Error>;
        log.error({ stack }, `closing ${name}: ${message}`);
      }
  }
}
