import type { Log } from '../api/host.js';

interface Release {
  readonly name: string;
  readonly run: () => unknown;
}

/** What a thread and its plugins hold until the thread ends; it is released in reverse order. */
export class Releases {
  readonly #all: Release[] = [];

  /** Registers the release of something. `name` tells the log what it is: `the store`, `plugin audit`. */
  readonly add = (name: string, run: () => unknown): void => void this.#all.push({ name, run });

  /** Releases everything, once, the last first. A release that fails is logged; the others run all the same. */
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
