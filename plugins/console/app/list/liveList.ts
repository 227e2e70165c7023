import { signal } from '@preact/signals';
import { ApiError } from '../api/http.js';
import { type Column, readPage, type Row, rowsOf, type Table, tableType, versionOf } from '../api/table.js';
import { watch, type WatchEvent } from '../api/watch.js';
import { PagedRows, type RowPage } from './pagedRows.js';

/** Rows in a page. Pages are larger while many rows precede the visible ones. */
const PAGE_ROWS = 500;
const SEEK_ROWS = 2000;
/** Changes after which a list is read again: it keeps all of them, which would fill the memory within days. */
const MOST_CHANGES = 50_000;

/** A shown list: its path, and the selection of its objects. */
export interface ListQuery {
  readonly path: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** A part of the names, in lower case; '' for all. */
  readonly name: string;
}

/** The state of a list, as the user sees it. */
export type ListState = 'loading' | 'live' | 'reconnecting' | 'failed';

const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;

/**
 * A list of one kind, read page by page as the user scrolls, and kept current by a watch. After an interruption that is
 * longer than the history of the server, it is read again.
 */
export class LiveList {
  readonly state = signal<ListState>('loading');
  /** Why the server refused the list. */
  readonly error = signal<ApiError | TypeError | undefined>(undefined);
  readonly columns = signal<readonly Column[]>([]);
  /** Incremented with every change of the rows. */
  readonly version = signal(0);
  rows: PagedRows;
  #resourceVersion = '';
  #wanted: readonly [from: number, to: number] = [0, PAGE_ROWS];
  #loading: Promise<void> | undefined;
  #aborter = new AbortController();
  #frame = 0;

  constructor(readonly query: ListQuery) {
    this.rows = this.#newRows();
  }

  /** Reads the list, and follows it until it is closed. */
  open(): void {
    void this.#run(this.#aborter.signal);
  }

  close(): void {
    this.#aborter.abort();
    cancelAnimationFrame(this.#frame);
  }

  /** Says which rows are visible, so that they are read. */
  want(from: number, to: number): void {
    this.#wanted = [from, to];
    if (this.#resourceVersion !== '') void this.#load();
  }

  #newRows(): PagedRows {
    const { name } = this.query;
    return new PagedRows(name === '' ? undefined : row => row.name.includes(name));
  }

  get #selectors() {
    const { labelSelector, fieldSelector } = this.query;
    return { labelSelector, fieldSelector };
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        const first = await readPage(this.query.path, { ...this.#selectors, limit: PAGE_ROWS }, signal);
        this.#restart(first);
        void this.#load();
        const ended = await watch<Table>(this.query.path, {
          query: this.#selectors,
          accept: tableType(),
          resourceVersion: this.#resourceVersion,
          versionOf,
          take: events => this.#take(events),
          connected: is => (this.state.value = is ? 'live' : 'reconnecting'),
          signal,
        });
        if (ended === 'ended') return;
      }
    } catch (error) {
      this.#fail(error, signal);
    }
  }

  /** `signal`: that of the failed request. Does nothing if the request was aborted on purpose. */
  #fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.error.value = error as ApiError | TypeError;
    this.state.value = 'failed';
  }

  #restart(first: Table): void {
    this.rows = this.#newRows();
    this.#resourceVersion = first.metadata.resourceVersion ?? '';
    this.columns.value = first.columnDefinitions ?? [];
    this.#append(first);
  }

  #append(table: Table): void {
    const { metadata } = table;
    this.rows.append(rowsOf(table), metadata.continue || undefined, metadata.remainingItemCount);
    this.#changed();
  }

  #take(events: readonly WatchEvent<Table>[]): void {
    for (const { type, object } of events)
      if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
        for (const row of rowsOf(object)) this.rows.apply(type, row);
    this.#changed();
    if (this.rows.changed > MOST_CHANGES) this.#readAgain();
  }

  /** Reads the pages of visible rows, one after another. Only one such loop runs. */
  #load(): Promise<void> {
    const { signal } = this.#aborter;
    this.#loading ??= this.#loadWanted()
      .catch(error => this.#fail(error, signal))
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #loadWanted(): Promise<void> {
    const { signal } = this.#aborter;
    for (;;) {
      const { rows } = this;
      const [from, to] = this.#wanted;
      const [again] = rows.missing(from, to);
      if (signal.aborted) return;
      if (again) await this.#reload(rows, again);
      else if (rows.next !== undefined && (rows.keep !== undefined || rows.known <= to)) await this.#loadNext(rows);
      else return;
    }
  }

  async #loadNext(rows: PagedRows): Promise<void> {
    const isFar = rows.keep !== undefined || this.#wanted[1] - rows.known > SEEK_ROWS;
    const table = await this.#page({ continue: rows.next, limit: isFar ? SEEK_ROWS : PAGE_ROWS });
    if (table && rows === this.rows) this.#append(table);
  }

  async #reload(rows: PagedRows, page: RowPage): Promise<void> {
    const at = { resourceVersion: this.#resourceVersion, resourceVersionMatch: 'Exact' };
    const table = await this.#page({ ...(page.token === '' ? at : { continue: page.token }), limit: page.size });
    if (table && rows === this.rows) {
      rows.fill(page, rowsOf(table));
      this.#changed();
    }
  }

  /** A page of the version of the list; undefined if the list was read again because that version is gone. */
  async #page(query: Readonly<Record<string, string | number | undefined>>): Promise<Table | undefined> {
    const { signal } = this.#aborter;
    try {
      return await readPage(this.query.path, { ...this.#selectors, ...query }, signal);
    } catch (error) {
      if (!isExpired(error)) throw error;
      this.#readAgain();
      return undefined;
    }
  }

  #readAgain(): void {
    this.#aborter.abort();
    this.#aborter = new AbortController();
    this.open();
  }

  /** Notifies the views of the rows, once for each frame. */
  #changed(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value++;
    });
  }
}

/** The age of an object as people read it: `5d`, `3h20m`, `45s`. */
export function ageOf(created: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - created) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 180) return minutes < 10 && seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  if (hours < 48) return hours < 8 && minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (days < 730) return days < 8 && hours % 24 ? `${days}d${hours % 24}h` : `${days}d`;
  return `${Math.floor(days / 365)}y`;
}

/** The text of a cell. */
export function cellText(row: Row, column: Column, index: number, now: number): string {
  if (column.name === 'Age' && Number.isFinite(row.created)) return ageOf(row.created, now);
  const value = row.cells[index];
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
