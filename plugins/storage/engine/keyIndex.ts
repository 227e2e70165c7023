/** A version of a key. `version` 0 is a deletion at the revision `modified`. */
export interface Version {
  readonly modified: number;
  readonly created: number;
  readonly version: number;
}

/** A key with its newest version, and in `older` its earlier ones (modified, created, version; ascending). */
interface Entry extends Version {
  readonly key: string;
  modified: number;
  created: number;
  version: number;
  older: number[] | undefined;
}

/** A version with its key. */
export interface KeyVersion extends Version {
  readonly key: string;
}

/** Entries per chunk before it is split. An insertion moves at most this many pointers. */
const MAX_CHUNK = 512;
/** Code units for which UTF-16 order can differ from UTF-8 order. */
const SURROGATE_OR_ABOVE = /[\ud800-\uffff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Compares two strings by their UTF-8 bytes, which is the order of code points. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return sortRank(x) - sortRank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above U+FFFF, so they are sorted after all other units. */
const sortRank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Whether a key can be encoded in UTF-8 without loss: lone surrogates would become U+FFFD. */
export const isEncodable = (key: string): boolean => !SURROGATE_OR_ABOVE.test(key) || !LONE_SURROGATE.test(key);

/**
 * All keys with their versions in history, in UTF-8 order. Chunks of sorted arrays make loading in order as fast as
 * appending. A range is consistent because it is read synchronously.
 */
export class KeyIndex {
  readonly #chunks: Entry[][] = [];
  /** Set by the first key for which plain string comparison could be wrong. */
  #needsCodePointOrder = false;
  #objects = 0;
  #sum = 0;

  /** Keys whose newest version is not a deletion, and the sum of their modification revisions modulo 2^32. */
  get totals(): { readonly objects: number; readonly sum: number } {
    return { objects: this.#objects, sum: this.#sum };
  }

  /** The newest version of a key, which may be a deletion. */
  newest(key: string): Version | undefined {
    return this.#entryOf(key);
  }

  /** The version of a key that was current at a revision; undefined if it did not exist then. */
  at(key: string, revision: number): Version | undefined {
    const entry = this.#entryOf(key);
    return entry && versionAt(entry, revision);
  }

  /** Adds a version, which must be newer than all others of its key. */
  add(key: string, modified: number, created: number, version: number): void {
    const entry = this.#entryOf(key);
    if (version > 0) this.#addToTotals(1, modified);
    if (!entry) {
      this.#insert({ key, modified, created, version, older: undefined });
      return;
    }
    if (entry.version > 0) this.#addToTotals(-1, -entry.modified);
    if (!entry.older) entry.older = [entry.modified, entry.created, entry.version];
    else entry.older.push(entry.modified, entry.created, entry.version);
    entry.modified = modified;
    entry.created = created;
    entry.version = version;
  }

  /** Sets all versions of a key, ascending and not empty. */
  setVersions(key: string, versions: readonly Version[]): void {
    const last = versions.at(-1)!;
    if (!this.#entryOf(key)) this.add(key, last.modified, last.created, last.version);
    const older = versions.slice(0, -1).flatMap(({ modified, created, version }) => [modified, created, version]);
    this.#entryOf(key)!.older = older.length > 0 ? older : undefined;
  }

  /** Removes the versions of a key that are not visible at `revision` or later. */
  discardOlder(key: string, revision: number): void {
    const entry = this.#entryOf(key);
    if (!entry) return;
    if (entry.modified <= revision) {
      entry.older = undefined;
      if (entry.version === 0) this.#remove(entry);
      return;
    }
    const older = entry.older;
    if (!older) return;
    let visible = older.length - 3;
    while (visible >= 0 && older[visible]! > revision) visible -= 3;
    if (visible < 0) return;
    const keepFrom = older[visible + 2] === 0 ? visible + 3 : visible;
    entry.older = keepFrom === older.length ? undefined : older.slice(keepFrom);
  }

  /**
   * At most `limit` keys with `prefix` after the key `after` as of `revision`. `remaining` is the number of further
   * keys if `counted`, otherwise 1 if there are any. `passed` is the number of versions of the keys found, and of those
   * between them.
   */
  range(
    prefix: string,
    after: string | undefined,
    revision: number,
    limit: number,
    counted = true,
  ): { found: KeyVersion[]; remaining: number; passed: number } {
    const found: KeyVersion[] = [];
    let remaining = 0;
    let passed = 0;
    for (const entry of this.#entriesFrom(prefix, after)) {
      if (found.length < limit) passed += 1 + (entry.older?.length ?? 0) / 3;
      const version = versionAt(entry, revision);
      if (!version) continue;
      if (found.length === limit) {
        remaining++;
        if (!counted) break;
      } else
        found.push({ key: entry.key, modified: version.modified, created: version.created, version: version.version });
    }
    return { found, remaining, passed };
  }

  /** The entry of a key. Keys are often added in order, such as at a start: then the last one precedes this one. */
  #entryOf(key: string): Entry | undefined {
    const last = this.#chunks.at(-1)?.at(-1);
    if (!last || this.#compare(last.key, key) < 0) return undefined;
    const chunk = this.#chunks[this.#chunkIndex(key)]!;
    const entry = chunk[this.#position(chunk, key)];
    return entry?.key === key ? entry : undefined;
  }

  #addToTotals(objects: number, revision: number): void {
    this.#objects += objects;
    this.#sum = (this.#sum + revision) >>> 0;
  }

  *#entriesFrom(prefix: string, after: string | undefined): Generator<Entry> {
    const exclusive = after !== undefined && this.#compare(after, prefix) >= 0;
    const start = exclusive ? after : prefix;
    let chunkAt = this.#chunkIndex(start);
    if (chunkAt < 0) return;
    let at = this.#position(this.#chunks[chunkAt]!, start);
    if (exclusive && this.#chunks[chunkAt]![at]?.key === start) at++;
    for (; chunkAt < this.#chunks.length; chunkAt++, at = 0) {
      const chunk = this.#chunks[chunkAt]!;
      for (; at < chunk.length; at++) {
        if (!chunk[at]!.key.startsWith(prefix)) return;
        yield chunk[at]!;
      }
    }
  }

  #insert(entry: Entry): void {
    this.#needsCodePointOrder ||= SURROGATE_OR_ABOVE.test(entry.key);
    const at = this.#chunkIndex(entry.key);
    if (at < 0) {
      this.#chunks.push([entry]);
      return;
    }
    const chunk = this.#chunks[at]!;
    const position = this.#position(chunk, entry.key);
    if (position === chunk.length) chunk.push(entry);
    else chunk.splice(position, 0, entry);
    if (chunk.length <= MAX_CHUNK) return;
    // Keys added in order fill their chunks. Otherwise a chunk is split in halves.
    const keep = at === this.#chunks.length - 1 && position === MAX_CHUNK ? MAX_CHUNK : MAX_CHUNK / 2;
    this.#chunks.splice(at + 1, 0, chunk.splice(keep));
  }

  #remove(entry: Entry): void {
    const at = this.#chunkIndex(entry.key);
    const chunk = this.#chunks[at]!;
    chunk.splice(this.#position(chunk, entry.key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The chunk that contains a key or into which it would be inserted; -1 if there are no chunks. */
  #chunkIndex(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#chunks[middle]![0]!.key, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? Math.min(0, this.#chunks.length - 1) : low - 1;
  }

  /** The first position whose key is not below `key`. */
  #position(chunk: readonly Entry[], key: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(chunk[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(a: string, b: string): number {
    if (this.#needsCodePointOrder) return compareKeys(a, b);
    return a < b ? -1 : a === b ? 0 : 1;
  }
}

function versionAt(entry: Entry, revision: number): Version | undefined {
  if (entry.modified <= revision) return entry.version === 0 ? undefined : entry;
  const older = entry.older;
  if (!older) return undefined;
  for (let i = older.length - 3; i >= 0; i -= 3) {
    if (older[i]! > revision) continue;
    const version = older[i + 2]!;
    return version === 0 ? undefined : { modified: older[i]!, created: older[i + 1]!, version };
  }
  return undefined;
}
