import { isKms, type EncryptionRule, type GivenCipher } from '../file.js';
import type { KmsConfig, KmsPlugin } from './plugin.js';
import { monotonicTime } from '../../../runtime/clock.js';

/** How long a success and a failure are cached, in milliseconds; as in upstream. */
const PASSED_MS = 3000;
const FAILED_MS = 1000;

/** Asks the key management plugins of a file whether they are healthy. */
export class KmsHealth {
  readonly #plugins = new Map<string, KmsPlugin>();
  /** The file when it was last read. */
  #rules: readonly EncryptionRule<GivenCipher>[] | undefined;
  #last: { readonly result: Promise<void>; until: number } | undefined;

  constructor(
    /** Reads the file as it is now. */
    readonly rules: () => Promise<readonly EncryptionRule<GivenCipher>[]>,
  ) {}

  /**
   * Rejects with an Error if a plugin is not healthy. The plugins are those of the file; if it cannot be read, those of
   * the previous one, which stays in use. Concurrent calls share one check.
   */
  check(): Promise<void> {
    if (this.#last && monotonicTime() < this.#last.until) return this.#last.result;
    const last = { result: this.#ask(), until: Number.POSITIVE_INFINITY };
    last.result.then(
      () => (last.until = monotonicTime() + PASSED_MS),
      () => (last.until = monotonicTime() + FAILED_MS),
    );
    this.#last = last;
    return last.result;
  }

  close(): void {
    for (const plugin of this.#plugins.values()) plugin.close();
    this.#plugins.clear();
  }

  async #ask(): Promise<void> {
    const rules = await this.rules().catch(error => this.#rules ?? Promise.reject(error));
    this.#rules = rules;
    const named = new Map<string, KmsConfig>();
    for (const { cipher } of rules.flatMap(({ keys }) => keys.filter(key => key !== undefined)))
      if (isKms(cipher)) named.set(JSON.stringify(cipher), cipher);
    for (const [id, plugin] of this.#plugins)
      if (!named.has(id)) {
        plugin.close();
        this.#plugins.delete(id);
      }
    for (const [id, config] of named) if (!this.#plugins.has(id)) this.#plugins.set(id, await pluginOf(config));
    await Promise.all(Array.from(this.#plugins.values(), plugin => plugin.status()));
  }
}

/** The gRPC library is loaded only when it is needed. */
async function pluginOf(config: KmsConfig): Promise<KmsPlugin> {
  const { KmsPlugin } = await import('./plugin.js');
  return new KmsPlugin(config);
}
