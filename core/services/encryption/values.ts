import { StoreError } from '../../api/storage.js';
import type { Naming } from '../../naming.js';
import type { EncryptionKey, EncryptionRule } from './file.js';
import { isEncrypted, MARK } from './mark.js';

const prefixOf = ({ provider, version, name }: EncryptionKey): Buffer =>
  Buffer.from(`${MARK}${provider}:${version}:${name}:`);

/** Encodes and decodes the values of one resource. */
class ResourceValues {
  readonly #write: { readonly prefix: Buffer; readonly key: EncryptionKey } | undefined;
  readonly #keys: readonly { readonly prefix: Buffer; readonly key: EncryptionKey }[];
  readonly #readsPlain: boolean;
  readonly #needsPreparing: boolean;

  constructor(keys: readonly (EncryptionKey | undefined)[]) {
    this.#keys = keys.flatMap(key => (key ? [{ prefix: prefixOf(key), key }] : []));
    this.#write = keys[0] && { prefix: prefixOf(keys[0]), key: keys[0] };
    this.#readsPlain = keys.includes(undefined);
    this.#needsPreparing = keys.some(key => key?.cipher.prepare !== undefined);
  }

  encode(name: string, record: Buffer, header: number): Buffer {
    if (!this.#write) return record;
    const { prefix, key } = this.#write;
    return Buffer.concat([record.subarray(0, header), prefix, key.cipher.encrypt(name, record.subarray(header))]);
  }

  decode(name: string, value: Uint8Array): Uint8Array {
    if (!isEncrypted(value)) {
      if (this.#readsPlain) return value;
      throw new StoreError(`${JSON.stringify(name)} is stored as it is, and no provider identity is configured for it`);
    }
    const used = this.#keyOf(value);
    if (!used) throw new StoreError(`${JSON.stringify(name)} was encrypted with a key that is not configured`);
    try {
      return used.key.cipher.decrypt(name, value.subarray(used.prefix.length));
    } catch (error) {
      const why = error instanceof StoreError ? `: ${error.message}` : '';
      throw new StoreError(
        `${JSON.stringify(name)} cannot be decrypted with the key ${JSON.stringify(used.key.name)} of ` +
          `${used.key.provider}${why}`,
      );
    }
  }

  /** Whether a stored value is as `encode` would store it now. */
  isCurrent(value: Uint8Array): boolean {
    if (!this.#write) return !isEncrypted(value);
    const { prefix, key } = this.#write;
    if (!prefix.every((byte, i) => value[i] === byte)) return false;
    return key.cipher.isCurrent?.(value.subarray(prefix.length)) ?? true;
  }

  /** A promise to await before a value is decoded; undefined if the value can be decoded now. */
  prepare(value: Uint8Array): Promise<void> | undefined {
    if (!this.#needsPreparing || !isEncrypted(value)) return undefined;
    const used = this.#keyOf(value);
    return used?.key.cipher.prepare?.(value.subarray(used.prefix.length));
  }

  #keyOf(value: Uint8Array) {
    return this.#keys.find(({ prefix }) => prefix.every((byte, i) => value[i] === byte));
  }
}

/** A stored record and its key; absent: there is none. */
export interface StoredRecord {
  readonly key: string;
  readonly record: Buffer | undefined;
}

/** The number of resources whose rules are cached. */
const MOST_KNOWN = 10_000;

const PLAIN = new ResourceValues([undefined]);

/**
 * The name of the resource that a key of the store belongs to, in the form that rules use: `secrets.`,
 * `deployments.apps`.
 */
function resourceOf(key: string, naming: Naming): string {
  const [group = '', plural = ''] = key.split('/', 2);
  if (group === 'core') return `${plural}.`;
  // The groups of custom kinds follow a colon.
  const colon = group.indexOf(':');
  return `${plural}.${colon < 0 ? naming.group(group) : group.slice(colon + 1)}`;
}

/**
 * Encrypts the values of a store by the rules of an EncryptionConfiguration. A value is bound to its key: it cannot be
 * read under another one. Values of resources without a rule stay as they are. `replace` changes the rules of a running
 * store.
 */
export class EncryptedValues {
  #rules: readonly { readonly resources: ReadonlySet<string>; readonly values: ResourceValues }[] = [];
  #known = new Map<string, ResourceValues>();

  constructor(
    rules: readonly EncryptionRule[],
    readonly naming: Naming,
  ) {
    this.replace(rules);
  }

  /** Replaces the rules. */
  replace(rules: readonly EncryptionRule[]): void {
    this.#rules = rules.map(({ resources, keys }) => ({
      resources: new Set(resources),
      values: new ResourceValues(keys),
    }));
    this.#known = new Map();
  }

  /** The record to store: the value, which follows `header` bytes, is encrypted. */
  encode(key: string, record: Buffer, header: number): Buffer {
    return this.#valuesOf(key).encode(key, record, header);
  }

  /** The value in a stored record. Throws StoreError if no key of the rules can decrypt it. */
  decode(key: string, record: Buffer, header: number): Uint8Array {
    return this.#valuesOf(key).decode(key, record.subarray(header));
  }

  /** Whether a record is stored as `encode` would store its value now, under the first key of its resource. */
  isCurrent(key: string, record: Buffer, header: number): boolean {
    return this.#valuesOf(key).isCurrent(record.subarray(header));
  }

  /**
   * A promise to await before the values of these stored records are decoded; undefined if they can be decoded now.
   * Rejects with Unavailable if a key management plugin does not answer.
   */
  prepare(records: readonly StoredRecord[], header: number): Promise<unknown> | undefined {
    let waiting: Promise<void>[] | undefined;
    for (const { key, record } of records) {
      const prepared = record && this.#valuesOf(key).prepare(record.subarray(header));
      if (prepared) (waiting ??= []).push(prepared);
    }
    return waiting && Promise.all(waiting);
  }

  #valuesOf(key: string): ResourceValues {
    const name = resourceOf(key, this.naming);
    let known = this.#known.get(name);
    if (!known) {
      // Custom resource definitions come and go.
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      const dot = name.indexOf('.');
      const names = [name, `*.${name.slice(dot + 1)}`, '*.*'];
      known = this.#rules.find(({ resources }) => names.some(one => resources.has(one)))?.values ?? PLAIN;
      this.#known.set(name, known);
    }
    return known;
  }
}
