import { SortedMap } from '../../runtime/sortedMap.js';
import type { Entry } from './entry.js';
import { PageReader, type StartPage } from './startPage.js';

/** A page whose objects have no entries yet, without the objects that were removed from it. */
class PackedPage {
  readonly reader: PageReader;
  /** The number of objects that are left. */
  left: number;
  /** Marks the positions of objects that were removed; undefined as long as there are none. */
  #gone: Uint8Array | undefined;

  constructor(page: StartPage) {
    this.reader = new PageReader(page);
    this.left = this.reader.count;
  }

  has(position: number): boolean {
    return this.#gone?.[position] !== 1;
  }

  /** Marks of the positions of the objects that were removed so far. */
  gone(): Uint8Array {
    return Uint8Array.from(this.#gone ?? new Uint8Array(this.reader.count));
  }

  remove(position: number): void {
    this.#gone ??= new Uint8Array(this.reader.count);
    this.#gone[position] = 1;
    this.left--;
  }
}

/** The position of an object in a page. */
interface Place {
  readonly page: PackedPage;
  readonly position: number;
}

/**
 * The entries of one resource by their keys. Start pages are kept as they are, in memory that all threads share, and
 * objects are looked up in their bytes. An object gets an entry and a string for its key only when it is first read or
 * changed: for 100,000 objects that nobody reads, these would take 20 MB in each thread.
 */
export class EntryMap {
  readonly #entries = new SortedMap<Entry>();
  /** In the order of the bytes of their keys. */
  #pages: PackedPage[] = [];
  /** Whether nothing was changed. */
  #isOriginal = true;

  /**
   * Adds a page of the resource, which must not be empty and whose keys must be in order. Returns false, and adds
   * nothing, if entries were set or deleted, or if its keys do not follow those of the pages before.
   */
  addPage(page: StartPage): boolean {
    const added = new PackedPage(page);
    const last = this.#pages.at(-1)?.reader;
    const follows = !last || last.compareAt(last.count - 1, Buffer.from(added.reader.keyAt(0))) < 0;
    if (!this.#isOriginal || !follows) return false;
    this.#pages.push(added);
    return true;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key) ?? this.#unpack(key);
  }

  /** Adds an entry or replaces the one with the same key. */
  set(entry: Entry): void {
    this.#isOriginal = false;
    this.#remove(entry.key);
    this.#entries.set(entry);
  }

  delete(key: string): void {
    this.#isOriginal = false;
    this.#remove(key);
    this.#entries.delete(key);
  }

  /** The entries whose keys begin with `prefix`, in order. */
  range(prefix: string): Entry[] {
    if (this.#pages.length > 0) this.#isOriginal = false;
    for (const page of this.#pages.splice(0))
      for (let i = 0; i < page.reader.count; i++) if (page.has(i)) this.#entries.set(page.reader.entryAt(i));
    return this.#entries.range(prefix);
  }

  /**
   * All entries, in no particular order. Entries that are added or deleted during the iteration may be missing; entries
   * that are changed are returned in their new state. Entries of packed objects are made for the iteration and not
   * kept.
   */
  *values(): Generator<Entry> {
    if (this.#pages.length === 0) {
      yield* this.#entries.values();
      return;
    }
    const loose = [...this.#entries.values()];
    const packed = this.#pages.map(page => ({ page, gone: page.gone() }));
    for (const { page, gone } of packed)
      for (let i = 0; i < page.reader.count; i++) {
        if (gone[i] === 1) continue;
        const entry = page.has(i) ? page.reader.entryAt(i) : this.#entries.get(page.reader.keyAt(i));
        if (entry) yield entry;
      }
    for (const { key } of loose) {
      const entry = this.#entries.get(key);
      if (entry) yield entry;
    }
  }

  #unpack(key: string): Entry | undefined {
    const place = this.#find(key);
    if (!place) return undefined;
    const entry = place.page.reader.entryAt(place.position);
    this.#drop(place);
    this.#entries.set(entry);
    return entry;
  }

  #remove(key: string): void {
    const place = this.#find(key);
    if (place) this.#drop(place);
  }

  /** A page without objects is not kept, so that its memory may be freed. */
  #drop({ page, position }: Place): void {
    page.remove(position);
    if (page.left === 0) this.#pages = this.#pages.filter(other => other !== page);
  }

  #find(key: string): Place | undefined {
    if (this.#pages.length === 0) return undefined;
    const bytes = Buffer.from(key);
    const page = this.#pages[lastWhere(this.#pages.length, i => this.#pages[i]!.reader.compareAt(0, bytes) <= 0)];
    if (!page) return undefined;
    const position = lastWhere(page.reader.count, i => page.reader.compareAt(i, bytes) <= 0);
    return page.reader.compareAt(position, bytes) === 0 && page.has(position) ? { page, position } : undefined;
  }
}

/**
 * The last of `count` positions for which `holds` returns true; -1 if there is none. `holds` must be true up to some
 * position and false after it.
 */
function lastWhere(count: number, holds: (position: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
