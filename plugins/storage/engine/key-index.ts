/** One version of a key: where it was made. `version` 0 marks a deletion at `modified`. */
export interface Version {
  readonly modified: number;
  readonly created: number;
  readonly version: number;
}

/**
 * A key with its newest version in the fields and earlier, not yet forgotten ones in `older` (modified, created,
 * version; ascending).
 */
interface Entry extends Version {
  readonly key: string;
  modified: number;
  created: number;
  version: number;
  older: number[] | undefined;
}

/** A version of a key found by a range. */
export interface Found extends Version {
  readonly key: string;
}

/** Entries per chunk before it splits: an insertion moves at most this many pointers. */
const CHUNK = 512;
/** Code units at which UTF-16 order and UTF-8 order part. */
const WIDE = /[\ud800-\uffff]/;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Order of two strings by their UTF-8 bytes (which is the order of code points). */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above U+FFFF, so they rank above every other unit. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Whether a key has a UTF-8 form of its own: lone surrogates would all become U+FFFD. */
export const isEncodable = (key: string): boolean => !WIDE.test(key) || !LONE.test(key);

/**
 * All keys with the versions that history still holds, in UTF-8 order: chunks of sorted arrays, so that it loads in
 * order at the speed of appending, and a range sees one consistent state because it runs without waiting.
 */
export class KeyIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #chunks: Entry[][] = [];
  /** Set with the first key for which plain string comparison could be wrong. */
  #wide = false;
  #objects = 0;
  #sum = 0;

  /** Keys whose newest version is not a deletion, and the sum of their modification revisions modulo 2^32. */
  get totals(): { readonly objects: number; readonly sum: number } {
    return { objects: this.#objects, sum: this.#sum };
  }

  /** The newest version of a key, a deletion included. */
  newest(key: string): Version | undefined {
    return this.#entries.get(key);
  }

  /** The version of a key that was current at a revision; undefined if it did not exist then. */
  at(key: string, revision: number): Version | undefined {
    const entry = this.#entries.get(key);
    return entry && versionAt(entry, revision);
  }

  /** Adds a version newer than all others of its key. */
  add(key: string, modified: number, created: number, version: number): void {
    const entry = this.#entries.get(key);
    if (version > 0) this.#count(1, modified);
    if (!entry) {
      this.#insert({ key, modified, created, version, older: undefined });
      return;
    }
    if (entry.version > 0) this.#count(-1, -entry.modified);
    if (!entry.older) entry.older = [entry.modified, entry.created, entry.version];
    else entry.older.push(entry.modified, entry.created, entry.version);
    entry.modified = modified;
    entry.created = created;
    entry.version = version;
  }

  /** Sets all versions of a key, ascending and not empty, as history tells them at open. */
  replace(key: string, versions: readonly Version[]): void {
    const last = versions.at(-1)!;
    if (!this.#entries.has(key)) this.add(key, last.modified, last.created, last.version);
    const older = versions.slice(0, -1).flatMap(({ modified, created, version }) => [modified, created, version]);
    this.#entries.get(key)!.older = older.length > 0 ? older : undefined;
  }

  /** Forgets what no read at `revision` or later can see. */
  forget(key: string, revision: number): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    if (entry.modified <= revision) {
      entry.older = undefined;
      if (entry.version === 0) this.#remove(entry);
      return;
    }
    const older = entry.older;
    if (!older) return;
    let seen = older.length - 3;
    while (seen >= 0 && older[seen]! > revision) seen -= 3;
    if (seen < 0) return;
    const keepFrom = older[seen + 2] === 0 ? seen + 3 : seen;
    entry.older = keepFrom === older.length ? undefined : older.slice(keepFrom);
  }

  /**
   * Keys with `prefix` after `after` as they were at `revision`, at most `limit`, with the number of those that follow
   * (if not `counted`, 1 for any).
   */
  range(
    prefix: string,
    after: string | undefined,
    revision: number,
    limit: number,
    counted = true,
  ): { found: Found[]; remaining: number } {
    const found: Found[] = [];
    let remaining = 0;
    for (const entry of this.#from(prefix, after)) {
      const version = versionAt(entry, revision);
      if (!version) continue;
      if (found.length === limit) {
        remaining++;
        if (!counted) break;
      } else
        found.push({ key: entry.key, modified: version.modified, created: version.created, version: version.version });
    }
    return { found, remaining };
  }

  #count(objects: number, revision: number): void {
    this.#objects += objects;
    this.#sum = (this.#sum + revision) >>> 0;
  }

  *#from(prefix: string, after: string | undefined): Generator<Entry> {
    const exclusive = after !== undefined && this.#compare(after, prefix) >= 0;
    const start = exclusive ? after : prefix;
    let chunkAt = this.#chunkOf(start);
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
    this.#wide ||= WIDE.test(entry.key);
    this.#entries.set(entry.key, entry);
    const at = this.#chunkOf(entry.key);
    if (at < 0) {
      this.#chunks.push([entry]);
      return;
    }
    const chunk = this.#chunks[at]!;
    const position = this.#position(chunk, entry.key);
    if (position === chunk.length) chunk.push(entry);
    else chunk.splice(position, 0, entry);
    if (chunk.length <= CHUNK) return;
    // Keys that come in order fill their chunks; others leave two halves with room.
    const keep = at === this.#chunks.length - 1 && position === CHUNK ? CHUNK : CHUNK / 2;
    this.#chunks.splice(at + 1, 0, chunk.splice(keep));
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    const at = this.#chunkOf(entry.key);
    const chunk = this.#chunks[at]!;
    chunk.splice(this.#position(chunk, entry.key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The chunk in which a key stands or would stand; -1 if there are none. */
  #chunkOf(key: string): number {
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
    if (this.#wide) return compareKeys(a, b);
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
