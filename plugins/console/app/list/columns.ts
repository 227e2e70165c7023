import type { Column, Row } from '../api/table.js';
import { cellText } from './liveList.js';

/** A column that is shown, and how to read its cell. */
export interface ShownColumn {
  readonly title: string;
  readonly description: string;
  readonly isRight: boolean;
  /** Width in characters. */
  readonly width: number;
  readonly text: (row: Row, now: number) => string;
}

/** Characters of a column at least and at most. */
const NARROWEST = 5;
const WIDEST = 44;
/** The name, which is cut last. */
const WIDEST_NAME = 64;
/** Pixels of a character of the interface's font, and between two columns. */
const CHARACTER = 8;
const GAP = 16;
/** Number of rows whose cells determine the widths. */
const SAMPLE = 60;

function widthOf(title: string, texts: readonly string[], widest: number): number {
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b);
  // A few long texts are cut, so that they do not make the column wide for all rows.
  const common = lengths[Math.floor(lengths.length * 0.9)] ?? 0;
  return Math.min(widest, Math.max(NARROWEST, title.length + 1, common + 1));
}

/** All columns of a list: those of the server, and the namespace if objects of several are listed. */
export function columnsOf(columns: readonly Column[], rows: readonly Row[], withNamespace: boolean): ShownColumn[] {
  const now = Date.now();
  const sample = rows.slice(0, SAMPLE);
  const own = columns.map((column, i): ShownColumn & { readonly priority: number } => {
    const text: ShownColumn['text'] = (row, at) => cellText(row, column, i, at);
    const texts = sample.map(row => text(row, now));
    return {
      title: column.name,
      description: column.description,
      isRight: column.type === 'integer' || column.type === 'number',
      width: widthOf(column.name, texts, i === 0 ? WIDEST_NAME : WIDEST),
      text,
      priority: column.priority,
    };
  });
  const namespace: ShownColumn = {
    title: 'Namespace',
    description: 'The namespace of the object.',
    isRight: false,
    width: widthOf(
      'Namespace',
      sample.map(row => row.namespace),
      WIDEST,
    ),
    text: row => row.namespace,
  };
  const [name, ...others] = own.sort((a, b) => Number(a.priority > 0) - Number(b.priority > 0));
  return [...(name ? [name] : []), ...(withNamespace ? [namespace] : []), ...others];
}

/** The columns that fit into a width in pixels: the first one always, the others in their order. */
export function fitting(columns: readonly ShownColumn[], pixels: number): ShownColumn[] {
  let left = pixels;
  return columns.filter((column, i) => {
    // The name may be cut to leave room for another column.
    const width = (i === 0 ? Math.min(column.width, 28) : column.width) * CHARACTER + GAP;
    if (i > 0 && width > left) return false;
    left -= width;
    return true;
  });
}

/** The tracks of a grid with these columns: the first one takes the remaining width. */
export const tracksOf = (columns: readonly ShownColumn[]): string =>
  columns.map(({ width }, i) => (i === 0 ? `minmax(8ch, ${width + 8}fr)` : `minmax(0, ${width}fr)`)).join(' ');
