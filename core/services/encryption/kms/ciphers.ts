import type { Log } from '../../../api/host.js';
import { StoreError } from '../../../api/storage.js';
import type { EncryptionKey, EncryptionRule, GivenCipher } from '../file.js';
import { isKms } from '../file.js';
import { type EncryptionObserver, observeCalls } from '../metrics.js';
import type { KmsCipher } from './cipher.js';
import type { KmsConfig } from './plugin.js';

const idOf = ({ name, endpoint, timeoutMs }: KmsConfig): string => JSON.stringify([name, endpoint, timeoutMs]);

/**
 * The ciphers of the key management plugins that a file names. Plugins that the next version of the file also names
 * keep their seeds.
 */
export class KmsCiphers {
  #ciphers = new Map<string, KmsCipher>();
  /** The ciphers of a file that is being loaded, whose plugins may not have answered yet. */
  #next: ReadonlyMap<string, KmsCipher> = new Map();
  #isClosed = false;

  constructor(
    readonly log: Log,
    readonly observe: EncryptionObserver,
  ) {}

  /**
   * The rules with the ciphers of plugins; those that write values are started. Rejects with StoreError if one of these
   * does not answer: the ciphers of the previous rules then stay in use.
   */
  async resolve(rules: readonly EncryptionRule<GivenCipher>[]): Promise<readonly EncryptionRule[]> {
    const used = new Map<string, KmsCipher>();
    this.#next = used;
    const given = rules.flatMap(({ keys }) => keys.flatMap(key => (key && isKms(key.cipher) ? [key.cipher] : [])));
    for (const config of given) {
      const id = idOf(config);
      if (!used.has(id)) used.set(id, this.#ciphers.get(id) ?? (await this.#cipherOf(config)));
    }
    const resolved = rules.map(({ resources, keys }) => ({
      resources,
      keys: keys.map((key): EncryptionKey | undefined => {
        if (!key) return undefined;
        const { cipher } = key;
        return { ...key, cipher: isKms(cipher) ? used.get(idOf(cipher))! : cipher };
      }),
    }));
    const writing = resolved.map(({ keys: [first] }) => first?.cipher);
    try {
      if (this.#isClosed) throw new StoreError('the store is closing');
      await Promise.all(Array.from(used.values(), cipher => writing.includes(cipher) && cipher.start()));
    } catch (error) {
      closeOthers(used, this.#ciphers);
      throw error;
    }
    closeOthers(this.#ciphers, used);
    this.#ciphers = used;
    return resolved;
  }

  /** The gRPC library is loaded only when it is needed. */
  async #cipherOf(config: KmsConfig): Promise<KmsCipher> {
    const { KmsCipher } = await import('./cipher.js');
    return new KmsCipher(config, this.log, observeCalls(this.observe, config));
  }

  /** Ends the connections, also those that `resolve` is waiting for; it then rejects. */
  close(): void {
    this.#isClosed = true;
    closeOthers(this.#next, new Map());
    closeOthers(this.#ciphers, new Map());
  }
}

/** Closes the ciphers that are not kept. */
function closeOthers(ciphers: ReadonlyMap<string, KmsCipher>, kept: ReadonlyMap<string, KmsCipher>): void {
  for (const [id, cipher] of ciphers) if (kept.get(id) !== cipher) cipher.close();
}
