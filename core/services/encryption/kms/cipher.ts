import { createHash, hkdfSync } from 'node:crypto';
import type { Log } from '../../../api/host.js';
import { StoreError, Unavailable } from '../../../api/storage.js';
import { KMS_ANNOTATION_BYTES, KMS_CIPHERTEXT_BYTES, KMS_SEEDS } from '../../../limits.js';
import { monotonicTime } from '../../../runtime/clock.js';
import { randomBytes, randomUUID } from '../../../runtime/random.js';
import { clearTimeout, delay, setTimeout } from '../../../runtime/timers.js';
import { aesGcm, type Cipher } from '../ciphers.js';
import { KmsPlugin, type KmsConfig, type KmsObserver } from './plugin.js';
import { Decrypt, Encrypt, SEALED_SEED, SEALED_VALUE, type SealedSeed, type SealedValue } from './protocol.js';

/** The interval at which the plugin is asked for its current key, also after a failure; as in upstream. */
const POLL_MS = 60_000;
const FAILED_POLL_MS = 10_000;
/** How long the start waits for a plugin, which may be starting too, and the pause between two attempts. */
const START_MS = 30_000;
const PAUSE_MS = 250;
/** Attempts to decrypt a seed that is refused: plugins refuse for a moment when their service does not answer. */
const ATTEMPTS = 3;
/** Failures to decrypt seeds are logged at most once in this time. */
const LOG_MS = 10_000;

const SEED_BYTES = 32;
const SALT_BYTES = 32;

/** A seed in clear text, and as it is stored in each value that was encrypted with it. */
interface Seed {
  readonly keyId: string;
  readonly plain: Buffer;
  readonly sealed: Buffer;
}

/** Each value has a key of its own, which HKDF (RFC 5869) derives from the seed and a random salt. */
const cipherOf = (seed: Uint8Array, salt: Uint8Array): Cipher =>
  aesGcm(Buffer.from(hkdfSync('sha256', seed, salt, 'capstan kms v2', 32)));

/** The id of a seed in the memory of this process. */
const idOf = (sealed: Uint8Array): string => createHash('sha256').update(sealed).digest('base64');

/**
 * Encrypts values with keys that are derived from a seed, and has a key management plugin encrypt the seed (KMS v2).
 * The seed is stored in each value. It is replaced when the plugin has another key: until then, a plugin that is
 * unavailable affects neither writes nor reads of values whose seeds were used before.
 */
export class KmsCipher implements Cipher {
  readonly #plugin: KmsPlugin;
  /** Undefined before `start`: values can then only be read. */
  #current: Seed | undefined;
  /**
   * Seeds in clear text, or the error with which the plugin refuses to decrypt one. The most recently used are last.
   */
  readonly #seeds = new Map<string, Uint8Array | StoreError>();
  readonly #opening = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(
    readonly config: KmsConfig,
    readonly log: Pick<Log, 'info' | 'error'>,
    observe?: KmsObserver,
  ) {
    this.#plugin = new KmsPlugin(config, observe);
  }

  /**
   * Has the plugin encrypt a first seed, after which values can be written. Waits for the plugin for up to START_MS.
   * Throws StoreError.
   */
  async start(): Promise<void> {
    if (this.#current) return;
    const until = monotonicTime() + START_MS;
    for (;;) {
      try {
        this.#current = await this.#newSeed();
        break;
      } catch (error) {
        if (!(error instanceof Unavailable) || monotonicTime() > until || this.#isClosed)
          throw new StoreError((error as Error).message);
      }
      await delay(PAUSE_MS);
    }
    this.#poll(POLL_MS);
  }

  encrypt(name: string, value: Uint8Array): Buffer {
    const { plain, sealed } = this.#current!;
    const salt = randomBytes(SALT_BYTES);
    const data = Buffer.concat([salt, cipherOf(plain, salt).encrypt(name, value)]);
    return SEALED_VALUE.encode({ seed: sealed, data } satisfies SealedValue);
  }

  decrypt(name: string, bytes: Uint8Array): Uint8Array {
    const { seed, data } = SEALED_VALUE.decode(bytes);
    const plain = this.#seeds.get(idOf(seed));
    if (plain instanceof Uint8Array)
      return cipherOf(plain, data.subarray(0, SALT_BYTES)).decrypt(name, data.subarray(SALT_BYTES));
    throw plain ?? new Error('the seed of the value was not decrypted');
  }

  isCurrent(bytes: Uint8Array): boolean {
    try {
      return SEALED_SEED.decode(SEALED_VALUE.decode(bytes).seed).key_id === this.#current!.keyId;
    } catch {
      return false;
    }
  }

  /**
   * Has the plugin decrypt the seed of a value, if it is not known; undefined if there is nothing to wait for. Rejects
   * with Unavailable if the plugin does not answer.
   */
  prepare(bytes: Uint8Array): Promise<void> | undefined {
    let seed: Uint8Array;
    try {
      ({ seed } = SEALED_VALUE.decode(bytes));
    } catch {
      // `decrypt` reports the error.
      return undefined;
    }
    const id = idOf(seed);
    const known = this.#seeds.get(id);
    if (known instanceof Uint8Array) {
      this.#keep(id, known);
      return undefined;
    }
    let opening = this.#opening.get(id);
    if (!opening) {
      // After a refusal, one attempt is enough: a store may have many values with the seed.
      opening = this.#open(id, seed, known ? 1 : ATTEMPTS).finally(() => this.#opening.delete(id));
      this.#opening.set(id, opening);
    }
    return opening;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#plugin.close();
  }

  async #open(id: string, sealed: Uint8Array, attempts: number): Promise<void> {
    let seed: SealedSeed;
    try {
      seed = SEALED_SEED.decode(sealed);
    } catch {
      this.#keep(id, new StoreError('its seed is damaged'));
      return;
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const { plaintext } = await this.#plugin.call(Decrypt, { ...seed, uid: randomUUID() });
        this.#keep(id, plaintext.length > 0 ? plaintext : new StoreError('the KMS plugin returned an empty seed'));
        return;
      } catch (error) {
        this.#logFailure(error as Error);
        if (!(error instanceof StoreError)) throw error;
        if (attempt < attempts) await delay(PAUSE_MS);
        else return this.#keep(id, error);
      }
    }
  }

  #logFailure({ message }: Error): void {
    const now = monotonicTime();
    if (this.#isClosed || now < this.#loggedAt + LOG_MS) return;
    this.#loggedAt = now;
    this.log.error({ provider: this.config.name }, `values cannot be read: ${message}`);
  }

  /** Keeps a seed as the most recently used one. */
  #keep(id: string, seed: Uint8Array | StoreError): void {
    this.#seeds.delete(id);
    this.#seeds.set(id, seed);
    for (const oldest of this.#seeds.keys()) {
      if (this.#seeds.size <= KMS_SEEDS) return;
      this.#seeds.delete(oldest);
    }
  }

  /** Creates a seed and has the plugin encrypt it with its current key. Rejects as `KmsPlugin.call`. */
  async #newSeed(): Promise<Seed> {
    await this.#plugin.status();
    const plain = randomBytes(SEED_BYTES);
    const {
      ciphertext,
      key_id: keyId,
      annotations,
    } = await this.#plugin.call(Encrypt, {
      plaintext: plain,
      uid: randomUUID(),
    });
    const annotationBytes = Object.entries(annotations).reduce(
      (sum, [name, value]) => sum + name.length + value.length,
      0,
    );
    const { name } = this.config;
    if (ciphertext.length === 0 || ciphertext.length > KMS_CIPHERTEXT_BYTES)
      throw new StoreError(`the KMS plugin ${name} must return 1 to ${KMS_CIPHERTEXT_BYTES} bytes for a seed`);
    if (keyId === '' || Buffer.byteLength(keyId) > KMS_CIPHERTEXT_BYTES)
      throw new StoreError(`the KMS plugin ${name} must return a key_id of 1 to ${KMS_CIPHERTEXT_BYTES} bytes`);
    if (annotationBytes > KMS_ANNOTATION_BYTES)
      throw new StoreError(`the KMS plugin ${name} must return at most ${KMS_ANNOTATION_BYTES} bytes of annotations`);
    const sealed = SEALED_SEED.encode({ ciphertext, key_id: keyId, annotations });
    this.#keep(idOf(sealed), plain);
    return { keyId, plain, sealed };
  }

  #poll(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.refresh(), ms).unref();
  }

  /** Takes a new seed if the plugin has another key. Called by a timer, and by tests. A failure is logged. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const { key_id: keyId } = await this.#plugin.status();
      if (keyId !== this.#current?.keyId) {
        this.#current = await this.#newSeed();
        this.log.info({ provider: this.config.name }, 'the KMS plugin has another key, which is used for writes');
      }
      this.#poll(POLL_MS);
    } catch (error) {
      if (this.#isClosed) return;
      this.log.error({ provider: this.config.name }, `the key of writes stays: ${(error as Error).message}`);
      this.#poll(FAILED_POLL_MS);
    }
  }
}
