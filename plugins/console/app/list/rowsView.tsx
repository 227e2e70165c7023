import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Kind } from '../api/kinds.js';
import type { Row } from '../api/table.js';
import { objectPage } from '../links.js';
import { hrefOf, navigate, namespace } from '../router.js';
import { columnsOf, fitting, type ShownColumn, tracksOf } from './columns.js';
import type { LiveList } from './liveList.js';

/** Number of rows above and below the visible ones that are in the document. */
const OVERSCAN = 12;
/** Milliseconds between two updates of ages. */
const AGES_MS = 5000;

/** The page of an object. */
const objectHref = (kind: Kind, row: Row): string =>
  hrefOf(objectPage(kind, row.namespace, row.name), { namespace: namespace.peek() });

/** The index of the active row after a key; undefined for keys that do not move it. */
function nextIndex(key: string, index: number, page: number, last: number): number | undefined {
  const to: { readonly [key: string]: number } = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: last,
    j: index + 1,
    k: index - 1,
  };
  const next = to[key];
  return next === undefined ? undefined : Math.min(last, Math.max(0, next));
}

interface LineProps {
  readonly row: Row | undefined;
  readonly index: number;
  readonly height: number;
  readonly columns: readonly ShownColumn[];
  readonly isActive: boolean;
  readonly kind: Kind;
  readonly now: number;
}

function Line({ row, index, height, columns, isActive, kind, now }: LineProps) {
  const line = useRef<HTMLDivElement>(null);
  // Positions are set through the object model of style sheets: the policy of the page does not allow style attributes.
  useLayoutEffect(() => {
    if (line.current) line.current.style.top = `${index * height}px`;
  }, [index, height]);
  return (
    <div
      ref={line}
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={isActive}
      class={`line ${isActive ? 'active' : ''} ${row?.isDeleted ? 'deleted' : ''}`}
      data-index={index}
    >
      {columns.map((column, i) => {
        const text = row ? column.text(row, now) : i === 0 ? '…' : '';
        return (
          <div key={column.title} role="gridcell" class={`cell ${column.isRight ? 'right' : ''}`} title={text}>
            {i === 0 && row ? (
              <a href={objectHref(kind, row)} tabIndex={-1}>
                {text}
              </a>
            ) : (
              text
            )}
          </div>
        );
      })}
    </div>
  );
}

/** The scroll position of a table, its size, and the height of a row, in pixels. */
function useViewport(table: RefObject<HTMLDivElement | null>) {
  const top = useSignal(0);
  const size = useSignal({ width: 0, height: 400, row: 34 });
  useLayoutEffect(() => {
    const element = table.current!;
    const measure = (): void => {
      const row = element.querySelector('.head')?.getBoundingClientRect().height || 34;
      size.value = { width: element.clientWidth, height: element.clientHeight, row };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return { top, size };
}

/** The current time, updated every few seconds. */
function useNow() {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), AGES_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Scrolls a table so that a row is visible: the head covers the first line of the visible part. */
function reveal(table: HTMLDivElement, index: number, { height, row }: { height: number; row: number }): void {
  const first = index * row;
  if (first < table.scrollTop) table.scrollTop = first;
  else if (first + 2 * row > table.scrollTop + height) table.scrollTop = first + 2 * row - height;
}

/** The row that is selected, and the actions of keys and clicks. */
function useSelection(list: LiveList, kind: Kind, table: RefObject<HTMLDivElement | null>, view: Viewport) {
  const active = useSignal(0);
  const { total } = list.rows;
  const index = Math.min(active.value, Math.max(0, total - 1));
  const open = (at: number): void => {
    const row = list.rows.at(at);
    if (row) navigate(objectHref(kind, row));
  };
  const press = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey || total === 0) return;
    const { height, row } = view.size.peek();
    const next = nextIndex(event.key, index, Math.max(1, Math.floor(height / row) - 2), total - 1);
    if (next === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === undefined) open(index);
    else {
      active.value = next;
      reveal(table.current!, next, { height, row });
    }
  };
  const click = (event: MouseEvent): void => {
    const target = event.target as Element;
    const at = Number(target.closest<HTMLElement>('[data-index]')?.dataset['index']);
    if (!Number.isInteger(at) || target.closest('a')) return;
    active.value = at;
    open(at);
  };
  return { index, press, click };
}

type Viewport = ReturnType<typeof useViewport>;

/** The columns that fit. Their widths do not change while rows do. */
const useColumns = (list: LiveList, isOfAll: boolean, { size }: Viewport) =>
  useComputed(() => {
    const sample = list.version.value > 0 ? (list.rows.pages[0]?.rows ?? []) : [];
    return fitting(columnsOf(list.columns.value, sample, isOfAll), size.value.width - 24);
  });

/**
 * The rows of a list: those that are visible are in the document, the others are replaced by a space of their height.
 */
export function RowsView({ list, kind }: { readonly list: LiveList; readonly kind: Kind }) {
  const table = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const now = useNow();
  const view = useViewport(table);
  const columns = useColumns(list, kind.namespaced && namespace.value === '', view);
  const selection = useSelection(list, kind, table, view);
  useSignalEffect(() => void table.current?.style.setProperty('--columns', tracksOf(columns.value)));
  void list.version.value;
  const { height, row: rowHeight } = view.size.value;
  const { total } = list.rows;
  const from = Math.max(0, Math.floor(view.top.value / rowHeight) - OVERSCAN);
  const to = Math.min(total, Math.ceil((view.top.value + height) / rowHeight) + OVERSCAN);
  useEffect(() => list.want(from, to), [from, to, list.version.value]);
  useLayoutEffect(() => {
    if (space.current) space.current.style.height = `${total * rowHeight}px`;
  }, [total, rowHeight]);
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  const isVisible = selection.index >= from && selection.index < to;
  return (
    <div
      class="table"
      ref={table}
      role="grid"
      tabIndex={0}
      aria-label={`${kind.kind} objects`}
      aria-rowcount={list.rows.isCounted ? total + 1 : -1}
      aria-activedescendant={isVisible ? `row-${selection.index}` : undefined}
      onScroll={event => (view.top.value = event.currentTarget.scrollTop)}
      onKeyDown={selection.press}
      onClick={selection.click}
    >
      <div class="line head" role="row" aria-rowindex={1}>
        {columns.value.map(({ title, description, isRight }) => (
          <div key={title} role="columnheader" class={`cell ${isRight ? 'right' : ''}`} title={description}>
            {title}
          </div>
        ))}
      </div>
      <div class="space" ref={space} role="rowgroup">
        {indexes.map(index => (
          <Line
            key={index}
            row={list.rows.at(index)}
            index={index}
            height={rowHeight}
            columns={columns.value}
            isActive={index === selection.index}
            kind={kind}
            now={now.value}
          />
        ))}
      </div>
    </div>
  );
}
