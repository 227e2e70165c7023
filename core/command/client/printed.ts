import { stringify } from 'yaml';
import { ConfigError } from '../../api/point.js';
import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { type ServedKind, resourceName } from './kinds.js';

/** The forms in which commands print objects. */
const OUTPUTS = ['table', 'wide', 'yaml', 'json', 'name'] as const;
/** The form in which a command prints objects. */
export type Output = (typeof OUTPUTS)[number];

/** Whether the server makes a table of the objects for this form. */
export const isTable = (output: Output): boolean => output === 'table' || output === 'wide';

/** Reads `--output`. Throws ConfigError. */
export function outputOf(given: unknown): Output {
  const found = OUTPUTS.find(output => output === (given ?? 'table'));
  if (found) return found;
  throw new ConfigError('--output', `must be ${OUTPUTS.join(', ')}, not ${JSON.stringify(given)}`);
}

/** An object as people want to see it: with its kind, which lists omit, and without the owners of its fields. */
export function shownObject(object: UnknownRecord, { apiVersion, kind }: ServedKind): UnknownRecord {
  const { managedFields: _, ...metadata } = recordAt(object, 'metadata') ?? {};
  return { apiVersion, kind, ...object, metadata };
}

/** An object as YAML, JSON or its name. */
export function printedObject(object: UnknownRecord, kind: ServedKind, output: Output): string {
  if (output === 'name') return printedName(object, kind);
  const shown = shownObject(object, kind);
  return output === 'json' ? JSON.stringify(shown, null, 2) : stringify(shown).trimEnd();
}

/** The name of an object as commands print it: `deployments.apps/web`. */
export const printedName = (object: UnknownRecord, kind: ServedKind): string =>
  `${resourceName(kind)}/${stringAt(object, 'metadata', 'name')}`;

/** The largest width, so that one long cell does not move the others out of sight. */
const MAX_WIDTH = 60;
const GAP = '   ';

/** Lines of cells in columns. Later rows have the widths of the first ones. */
export class Columns {
  readonly #widths: readonly number[];

  constructor(rows: readonly (readonly string[])[]) {
    const widths: number[] = [];
    for (const row of rows)
      for (const [i, { length }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, Math.min(MAX_WIDTH, length));
    this.#widths = widths;
  }

  line(row: readonly string[]): string {
    return row
      .map((cell, i) => cell.padEnd(this.#widths[i] ?? 0))
      .join(GAP)
      .trimEnd();
  }
}

/** A text of one line, without control characters, which a terminal would interpret as commands. */
export const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

const cellText = (cell: unknown): string => plain(cell === null || cell === undefined ? '' : String(cell));

/** Reads the tables in a server's answers: names of columns, and rows. */
export class TableReader {
  #shown: readonly number[] = [];
  #names: readonly string[] = [];

  constructor(
    /** Whether columns of less importance are shown. */
    readonly isWide: boolean,
    /** Whether the namespaces of objects are shown. */
    readonly hasNamespaces: boolean,
  ) {}

  /** The names of the columns of the tables so far. */
  get head(): readonly string[] {
    return [...(this.hasNamespaces ? ['NAMESPACE'] : []), ...this.#names];
  }

  /** The rows of a table. If it has no columns, as in watches, those of an earlier table apply. */
  rows(table: UnknownRecord): readonly (readonly string[])[] {
    const columns = recordsAt(table, 'columnDefinitions');
    if (columns.length > 0) {
      this.#shown = columns.flatMap((column, i) => (this.isWide || Number(column['priority'] ?? 0) === 0 ? [i] : []));
      this.#names = this.#shown.map(i => stringAt(columns[i], 'name').toUpperCase());
    }
    return recordsAt(table, 'rows').map(row => {
      const cells = (row['cells'] ?? []) as readonly unknown[];
      const own = this.hasNamespaces ? [stringAt(row, 'object', 'metadata', 'namespace')] : [];
      return [...own, ...this.#shown.map(i => cellText(cells[i]))];
    });
  }
}
