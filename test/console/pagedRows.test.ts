import { describe, expect, test } from 'vitest';

/* The rows of a list in the console, page by page, with the changes of a watch. The app has no types of Node.js. */

interface Row {
  readonly key: string;
  readonly name: string;
  readonly cells: readonly string[];
}

interface Page {
  readonly token: string;
  rows: Row[] | undefined;
  count: number;
}

interface PagedRows {
  readonly pages: Page[];
  readonly total: number;
  readonly known: number;
  readonly isCounted: boolean;
  readonly next: string | undefined;
  at(index: number): Row | undefined;
  indexOf(key: string): number | undefined;
  missing(from: number, to: number): Page[];
  append(rows: readonly Row[], next: string | undefined, remaining: number | undefined): void;
  fill(page: Page, rows: readonly Row[]): void;
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', row: Row): void;
}

const path = new URL('../../plugins/console/app/list/pagedRows.ts', import.meta.url).href;
const { PagedRows } = (await import(path)) as { PagedRows: new (keep?: (row: Row) => boolean) => PagedRows };

const row = (number: number, text = ''): Row => {
  const key = `row-${String(number).padStart(5, '0')}`;
  return { key, name: key, cells: [text] };
};
const range = (from: number, to: number): Row[] => Array.from({ length: to - from }, (_, i) => row(from + i));
const SIZE = 10;

/** A list of `count` even numbers, of which the first `read` pages were read. */
function listed(count: number, read: number): PagedRows {
  const rows = new PagedRows();
  const all = range(0, count).map((_, i) => row(2 * i));
  for (let i = 0; i < read; i++) {
    const end = (i + 1) * SIZE;
    rows.append(all.slice(i * SIZE, end), end < count ? `page-${i + 1}` : undefined, Math.max(0, count - end));
  }
  return rows;
}

describe('the rows of a list', () => {
  test('are counted by the number that the server returns, before all are read', () => {
    const rows = listed(100, 2);
    expect([rows.total, rows.known, rows.next]).toEqual([100, 20, 'page-2']);
    expect(rows.at(19)).toEqual(row(38));
    expect(rows.at(20)).toBeUndefined();
  });

  test('are inserted, changed and removed at their sorted positions', () => {
    const rows = listed(30, 3);
    rows.apply('ADDED', row(13));
    rows.apply('MODIFIED', row(20, 'changed'));
    rows.apply('DELETED', row(0));
    rows.apply('ADDED', row(999));
    expect(rows.total).toBe(31);
    expect([rows.at(0), rows.at(5), rows.at(6), rows.at(9), rows.at(30)]).toEqual([
      row(2),
      row(12),
      row(13),
      row(18),
      row(999),
    ]);
    expect(rows.at(10)).toEqual(row(20, 'changed'));
    expect(rows.indexOf(row(13).key)).toBe(6);
  });

  test('that were not read yet are counted, and show later changes when they are read', () => {
    const rows = listed(100, 1);
    rows.apply('ADDED', row(25));
    rows.apply('MODIFIED', row(26, 'changed'));
    rows.apply('DELETED', row(28));
    rows.apply('DELETED', row(198));
    expect(rows.total).toBe(99);
    rows.append(
      range(10, 20).map((_, i) => row(20 + 2 * i)),
      'page-2',
      80,
    );
    expect(rows.total).toBe(99);
    expect([rows.at(12), rows.at(13), rows.at(14), rows.at(15)]).toEqual([
      row(24),
      row(25),
      row(26, 'changed'),
      row(30),
    ]);
  });

  test('of hidden pages are dropped, and show later changes when they are read again', () => {
    const rows = listed(30_000, 3000);
    const [first] = rows.pages;
    expect(first!.rows).toBeUndefined();
    expect(rows.pages.filter(page => page.rows)).toHaveLength(2000);
    rows.apply('ADDED', row(1));
    rows.apply('DELETED', row(4));
    expect([rows.total, rows.at(0)]).toEqual([30_000, undefined]);
    expect(rows.missing(0, 5)).toEqual([first]);
    rows.fill(
      first!,
      range(0, SIZE).map((_, i) => row(2 * i)),
    );
    expect([0, 1, 2, 3].map(i => rows.at(i))).toEqual([row(0), row(1), row(2), row(6)]);
    expect(rows.total).toBe(30_000);
  });

  test('have no final count until the server has said how many follow', () => {
    const rows = new PagedRows();
    rows.append(range(0, SIZE), 'next', undefined);
    expect([rows.total, rows.isCounted]).toEqual([SIZE, false]);
    rows.append(range(SIZE, SIZE + 1), undefined, undefined);
    expect([rows.total, rows.isCounted]).toEqual([SIZE + 1, true]);
  });

  test('that do not match a search are hidden, also later ones', () => {
    const rows = new PagedRows(({ name }) => name.endsWith('5'));
    rows.append(range(0, 100), 'next', 50);
    expect([rows.total, rows.at(1)]).toEqual([10, row(15)]);
    rows.apply('ADDED', row(100));
    rows.apply('MODIFIED', row(15, 'changed'));
    rows.apply('DELETED', row(5));
    expect([rows.total, rows.at(0)]).toEqual([9, row(15, 'changed')]);
  });
});
