import type { Row } from '../api/table.js';

/** A page of a list as the server returned it, and the changes in its range of keys since. */
export interface RowPage {
  /** The continue token that the page is read with; '' for the first one. */
  readonly token: string;
  /** The number of rows that the server gave. */
  readonly size: number;
  /** The last key of the range, which begins after the last key of the previous page. */
  last: string;
  /** The rows in order; undefined while they are not kept. */
  rows: Row[] | undefined;
  /** The number of rows, even while they are not kept. */
  count: number;
  /** The rows by key that have changed since the version of the list; null for one that is gone. */
  readonly changes: Map<string, Row | null>;
  /** When the page was last shown. */
  used: number;
}

/** Maximum number of rows that are kept. Visible pages are always kept. */
const KEPT_ROWS = 20_000;

/** The index of a key in sorted rows, or the index at which it would be inserted. */
function indexOf(rows: readonly Row[], key: string): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Puts a row in its place, or removes the one with the key. Returns by how much the number of rows has grown. */
function change(rows: Row[], key: string, row: Row | null): number {
  const at = indexOf(rows, key);
  const isThere = rows[at]?.key === key;
  if (row) rows.splice(at, isThere ? 1 : 0, row);
  else if (isThere) rows.splice(at, 1);
  return (row ? 1 : 0) - (isThere ? 1 : 0);
}

/**
 * The rows of a list that is read page by page, and kept current by the events of a watch. The rows of the pages that
 * were shown last are kept; of the others, only their number and their changes, so that a page can be read again at the
 * version of the list. With `keep`, rows that it does not select are left out, and all others are kept.
 */
export class PagedRows {
  readonly pages: RowPage[] = [];
  /** The token of the next page; undefined once all have been read. */
  next: string | undefined = '';
  /** Number of rows after the pages that were read, by the server's count. */
  remaining = 0;
  /** Changes after the last page, and by how much each has made the list longer. */
  readonly #tail = new Map<string, { readonly row: Row | null; readonly grown: number }>();
  #clock = 0;
  /** Keys of objects that have changed since the list was read, which are kept. */
  changed = 0;

  constructor(readonly keep?: (row: Row) => boolean) {}

  /** Number of rows, as far as it is known. */
  get total(): number {
    return this.known + (this.keep ? 0 : Math.max(0, this.remaining));
  }

  /** Whether `total` is the number of all rows: servers do not count the rows that selectors choose. */
  get isCounted(): boolean {
    return this.next === undefined || this.remaining > 0;
  }

  /** Number of rows of the pages that were read. */
  get known(): number {
    return this.pages.reduce((sum, { count }) => sum + count, 0);
  }

  /** The row at an index; undefined if it is not kept, or was not read. */
  at(index: number): Row | undefined {
    const found = this.#locate(index);
    return found?.page.rows?.[found.offset];
  }

  /** The index of the row with a key, or where it would be; undefined if its page is not kept. */
  indexOf(key: string): number | undefined {
    let before = 0;
    for (const page of this.pages) {
      if (key <= page.last || page === this.pages.at(-1))
        return page.rows ? before + indexOf(page.rows, key) : undefined;
      before += page.count;
    }
    return undefined;
  }

  /** The pages that have rows with an index in a range, and whose rows are not kept; marks the others as used. */
  missing(from: number, to: number): RowPage[] {
    const missing: RowPage[] = [];
    let before = 0;
    for (const page of this.pages) {
      if (before + page.count > from && before <= to) {
        page.used = ++this.#clock;
        if (!page.rows) missing.push(page);
      }
      before += page.count;
    }
    return missing;
  }

  /** Adds the page that was read with the token `next`. */
  append(rows: readonly Row[], next: string | undefined, remaining: number | undefined): void {
    const last = next === undefined ? '\uffff' : (rows.at(-1)?.key ?? '');
    const changes = new Map<string, Row | null>();
    for (const [key, { row }] of this.#tail)
      if (key <= last) {
        changes.set(key, row);
        this.#tail.delete(key);
      }
    const page: RowPage = {
      token: this.next ?? '',
      size: rows.length,
      last,
      rows: [],
      count: 0,
      changes,
      used: ++this.#clock,
    };
    this.pages.push(page);
    this.next = next;
    const grown = [...this.#tail.values()].reduce((sum, changed) => sum + changed.grown, 0);
    this.remaining = next === undefined ? 0 : (remaining ?? 0) + grown;
    this.fill(page, rows);
  }

  /** Gives a page its rows at the version of the list, and applies later changes. */
  fill(page: RowPage, rows: readonly Row[]): void {
    const kept = this.keep ? rows.filter(this.keep) : [...rows];
    for (const [key, row] of page.changes) change(kept, key, row && this.#isKept(row) ? row : null);
    page.rows = kept;
    page.count = kept.length;
    this.#evict();
  }

  /** Applies an event of the watch: `row` is null for an object that is gone. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', row: Row): void {
    const changed = type === 'DELETED' ? null : row;
    const page = this.pages.find(({ last }) => row.key <= last);
    const grown = type === 'ADDED' ? 1 : type === 'DELETED' ? -1 : 0;
    if (!page) {
      if (!this.#tail.has(row.key)) this.changed++;
      this.#tail.set(row.key, { row: changed, grown: grown + (this.#tail.get(row.key)?.grown ?? 0) });
      this.remaining += grown;
      return;
    }
    if (!this.keep) {
      if (!page.changes.has(row.key)) this.changed++;
      page.changes.set(row.key, changed);
    }
    if (page.rows) page.count += change(page.rows, row.key, changed && this.#isKept(changed) ? changed : null);
    else page.count = Math.max(0, page.count + grown);
  }

  #isKept(row: Row): boolean {
    return this.keep?.(row) ?? true;
  }

  #locate(index: number): { readonly page: RowPage; readonly offset: number } | undefined {
    let before = 0;
    for (const page of this.pages) {
      if (index < before + page.count) return { page, offset: index - before };
      before += page.count;
    }
    return undefined;
  }

  /** Drops the rows of the pages that were shown longest ago. */
  #evict(): void {
    if (this.keep) return;
    let rows = 0;
    for (const page of this.pages.filter(one => one.rows).sort((a, b) => b.used - a.used)) {
      rows += page.count;
      if (rows > KEPT_ROWS && page.used < this.#clock) page.rows = undefined;
    }
  }
}
