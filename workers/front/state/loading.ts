import { LOADING_MS } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';

/** A request that waits for the objects of a resource, or of all. */
interface Waiting {
  readonly storageName: string | undefined;
  readonly resolve: () => void;
}

/** The resources that have all of their objects in the cache, while a server starts. */
export class Loading {
  /** Storage names of resources that are not complete; undefined: any may be missing. */
  #missing: ReadonlySet<string> | undefined;
  #waiting: Waiting[] = [];
  readonly #first = new Signal();
  readonly #all = new Signal();

  /** Resolves when the first resources are complete. */
  get first(): Promise<void> {
    return this.#first.given;
  }

  /** Resolves when all resources are complete. */
  get all(): Promise<void> {
    return this.#all.given;
  }

  /** Notes that all resources are complete except those with these storage names. */
  complete(missing: readonly string[] = []): void {
    this.#missing = new Set(missing);
    this.#first.give();
    if (missing.length === 0) this.#all.give();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ storageName }) => !this.#isComplete(storageName));
    for (const { storageName, resolve } of waiting) if (this.#isComplete(storageName)) resolve();
  }

  /**
   * Resolves when the resource with this storage name is complete, or all are if none is named; undefined if that is
   * already so. Rejects with Refusal ServiceUnavailable if it takes longer than a request may wait.
   */
  waitFor(storageName?: string): Promise<void> | undefined {
    return this.#isComplete(storageName) ? undefined : this.#wait(storageName);
  }

  #wait(storageName: string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter(other => other !== waiting);
        reject(
          new Refusal('ServiceUnavailable', 'the server is still reading stored objects', { retryAfterSeconds: 1 }),
        );
      }, LOADING_MS);
      const waiting: Waiting = {
        storageName,
        resolve() {
          clearTimeout(timer);
          resolve();
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #isComplete(storageName: string | undefined): boolean {
    if (!this.#missing || this.#missing.size === 0) return this.#missing !== undefined;
    return storageName !== undefined && !this.#missing.has(storageName);
  }
}

/** A promise that is resolved from outside. */
class Signal {
  give: () => void = () => undefined;
  readonly given = new Promise<void>(resolve => (this.give = resolve));
}
