import type { Column } from '../../../core/api/strategy.js';
import type { CellValue } from '../../../core/model/age.js';
import { labelSelectorText } from '../../../core/model/selectors/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isAbsent } from '../../../core/model/record.js';
import type { LabelSelector } from '../../../kinds/meta/v1.js';

/** Computes a cell. */
export type Cell<T = ApiObject> = (object: T) => CellValue;

/** The differences of a column from a string column that is always shown. */
export interface ColumnOptions {
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  /** Shown only in wide output (priority 1). */
  readonly wide?: boolean;
  readonly description?: string;
}

/** The members of a map, sorted by name. */
export const sortedEntries = <T>(map: { readonly [key: string]: T } | undefined | null): [string, T][] =>
  Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** An object that reports conditions. */
interface Reporting<Condition> {
  readonly status?: { readonly conditions?: readonly Condition[] | null };
}

/** The condition of a type in `status.conditions`; undefined if there is none. */
export const conditionOf = <Condition extends { readonly type?: string }>(
  object: Reporting<Condition>,
  type: string,
): Condition | undefined => object.status?.conditions?.find(condition => condition.type === type);

/** Whether a condition has the status `True`. */
export const isConditionTrue = <Condition extends { readonly type?: string; readonly status?: string }>(
  object: Reporting<Condition>,
  type: string,
): boolean => conditionOf(object, type)?.status === 'True';

/** The first `most` items, joined, and the number of further ones; `none` is the text for an empty list. */
export function shortList(items: readonly string[], most: number, none: string, separator = ','): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** The time since an RFC 3339 time; `none` if it is not a time. */
export function timeSince(time: string | undefined | null, none = '<unknown>'): CellValue {
  const since = Date.parse(time ?? '');
  return Number.isNaN(since) ? none : { since };
}

/** Labels as the text of a selector, sorted by this text: `a.b=x` precedes `a=y`. */
export const labelsText = (labels: { readonly [key: string]: string } | undefined | null, none = '<none>'): string =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',') || none;

/** A LabelSelector as text; `<none>` if it is empty. */
export const selectorText = (selector: LabelSelector | undefined | null): string =>
  (selector && labelSelectorText(selector)) || '<none>';

/** A value as text; `none` if it is absent. */
export const textOf = (value: unknown, none: string): string => (isAbsent(value) ? none : String(value));

/** A value as text; `none` if it is absent or empty. */
export const scalarText = (value: string | number | bigint | boolean | undefined | null, none: string): string =>
  isAbsent(value) || value === '' ? none : String(value);

/** The total number of entries of lists or maps. */
export const countOf = (...values: readonly (object | undefined | null)[]): number =>
  values.reduce<number>((total, value) => total + Object.keys(value ?? {}).length, 0);

/** Creates a column. */
export const column = <T = ApiObject>(name: string, cell: Cell<T>, options: ColumnOptions = {}): Column<T> => ({
  name,
  type: options.type ?? 'string',
  format: options.format ?? '',
  priority: options.wide ? 1 : 0,
  description: options.description ?? `${name} of the object.`,
  cell,
});

/** A column of numbers; 0 where there is none. */
export const integerColumn = <T>(
  name: string,
  numberOf: (object: T) => number | bigint | undefined | null,
): Column<T> => column(name, object => numberOf(object) ?? 0, { type: 'integer' });

/** A column that is shown only in wide output. */
export const wideColumn = <T = ApiObject>(name: string, cell: Cell<T>): Column<T> => column(name, cell, { wide: true });

/** The object's name. */
export const NAME = column('Name', object => object.metadata.name ?? '', {
  format: 'name',
  description: 'Name of the object, unique among those of its kind in its namespace.',
});

/** Time since creation. */
export const AGE = column('Age', object => timeSince(object.metadata.creationTimestamp), {
  description: 'Time since the object was created.',
});

/** The columns of kinds without special ones. */
export const NAME_AND_AGE: readonly Column[] = [NAME, AGE];

/** A column of the number of entries of a list or map. */
export const countColumn = <T>(name: string, entriesOf: (object: T) => object | undefined | null): Column<T> =>
  column(name, object => countOf(entriesOf(object)), { type: 'integer' });

/** The number of entries of a list that a cell shows. */
export const MOST_SHOWN = 3;
