import type { Column } from '../../../core/api/strategy.js';
import type { CellValue } from '../../../core/model/age.js';
import { labelSelectorText } from '../../../core/model/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  exactNumberAt,
  entriesAt,
  isAbsent,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';

/** Computes a cell. */
export type Cell = (object: ApiObject) => CellValue;

/** The differences of a column from a string column that is always shown. */
export interface ColumnOptions {
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  /** Shown only in wide output (priority 1). */
  readonly wide?: boolean;
  readonly description?: string;
}

/** The members of the object at a path, sorted by name. */
export const sortedEntries = (from: unknown, ...path: readonly string[]): [string, unknown][] =>
  entriesAt(from, ...path).sort(([a], [b]) => (a < b ? -1 : 1));

/** The condition of a type in `status.conditions`; undefined if there is none. */
export const conditionOf = (object: unknown, type: string): UnknownRecord | undefined =>
  recordsAt(object, 'status', 'conditions').find(condition => condition.type === type);

/** Whether a condition has the status `True`. */
export const isConditionTrue = (object: unknown, type: string): boolean => conditionOf(object, type)?.status === 'True';

/** The first `most` items, joined, and the number of further ones; `none` is the text for an empty list. */
export function shortList(items: readonly string[], most: number, none: string, separator = ','): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** The time since an RFC 3339 time; `none` if it is not a time. */
export function timeSince(time: unknown, none = '<unknown>'): CellValue {
  const since = Date.parse(stringAt(time));
  return Number.isNaN(since) ? none : { since };
}

/** Labels as the text of a selector, sorted by this text: `a.b=x` precedes `a=y`. */
export const labelsText = (labels: unknown, none = '<none>'): string =>
  entriesAt(labels)
    .map(([key, value]) => `${key}=${stringAt(value)}`)
    .sort()
    .join(',') || none;

/** A LabelSelector, or a map of labels, as text; `<none>` if it is empty. */
export const selectorText = (selector: unknown): string =>
  valueAt(selector, 'matchLabels') === undefined && recordsAt(selector, 'matchExpressions').length === 0
    ? labelsText(selector)
    : labelSelectorText(selector as object) || '<none>';

/** A value as text; `none` if it is absent. */
export const textOf = (value: unknown, none: string): string => (isAbsent(value) ? none : String(value));

const pathOf = (dotted: string): string[] => dotted.split('.');

/** The string at a dotted path. */
export const stringCell = (dotted: string, none = ''): Cell => {
  const path = pathOf(dotted);
  return object => stringAt(object, ...path) || none;
};

/** The number at a dotted path. */
export const integerCell = (dotted: string, none: CellValue = 0): Cell => {
  const path = pathOf(dotted);
  return object => {
    return exactNumberAt(object, ...path) ?? none;
  };
};

/** The boolean at a dotted path. */
export const booleanCell = (dotted: string, none: CellValue = false): Cell => {
  const path = pathOf(dotted);
  return object => {
    const value = valueAt(object, ...path);
    return typeof value === 'boolean' ? value : none;
  };
};

/** The string, number or boolean at a dotted path, as text. */
export const scalarCell = (dotted: string, none: string): Cell => {
  const path = pathOf(dotted);
  return object => {
    const value = valueAt(object, ...path);
    return isAbsent(value) || value === '' ? none : String(value);
  };
};

/** The total number of entries of the lists or maps at dotted paths. */
export const countCell = (...dotted: readonly string[]): Cell => {
  const paths = dotted.map(pathOf);
  return object => {
    let total = 0;
    for (const path of paths) {
      const value = valueAt(object, ...path);
      if (typeof value === 'object' && value !== null) total += Object.keys(value).length;
    }
    return total;
  };
};

/** The strings of the list at a dotted path, joined with commas. */
export const joinedCell = (dotted: string, none = ''): Cell => {
  const path = pathOf(dotted);
  return object => stringsAt(object, ...path).join(',') || none;
};

/** Creates a column. */
export const column = (name: string, cell: Cell, options: ColumnOptions = {}): Column => ({
  name,
  type: options.type ?? 'string',
  format: options.format ?? '',
  priority: options.wide ? 1 : 0,
  description: options.description ?? `${name} of the object.`,
  cell,
});

/** A column of the numbers at a dotted path. */
export const integerColumn = (name: string, dotted: string): Column =>
  column(name, integerCell(dotted), { type: 'integer' });

/** A column that is shown only in wide output. */
export const wideColumn = (name: string, cell: Cell): Column => column(name, cell, { wide: true });

/** The object's name. */
export const NAME = column('Name', stringCell('metadata.name'), {
  format: 'name',
  description: 'Name of the object, unique among those of its kind in its namespace.',
});

/** Time since creation. */
export const AGE = column('Age', object => timeSince(object.metadata?.creationTimestamp), {
  description: 'Time since the object was created.',
});

/** The columns of kinds without special ones. */
export const NAME_AND_AGE: readonly Column[] = [NAME, AGE];

/** A column of the number of entries at a dotted path. */
export const countColumn = (name: string, path: string): Column => column(name, countCell(path), { type: 'integer' });

/** The number of entries of a list that a cell shows. */
export const MOST_SHOWN = 3;
