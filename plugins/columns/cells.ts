import type { Column } from '../../core/api/strategy.js';
import { labelSelectorText } from '../../core/model/labelSelector.js';
import type { ApiObject } from '../../core/model/object.js';
import { humanDuration } from '../../core/model/age.js';

export { humanDuration };

/** Value of a cell. */
export type Value = string | number | boolean | null;

/** Computes a cell; `now` in milliseconds since the epoch. */
export type Cell = (object: ApiObject, now: number) => Value;

/** How a column differs from a plain string that is always shown. */
export interface Look {
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  /** Shown in the wide form only (priority 1). */
  readonly wide?: boolean;
  readonly description?: string;
}

/** The member of a JSON object, undefined for anything else. Keys come from objects, so only own members count. */
export const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as { [key: string]: unknown })[key]
    : undefined;

/** The value below a path of members. */
export const at = (value: unknown, ...path: readonly string[]): unknown => path.reduce(member, value);

/** A list, empty for anything else. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A string, empty for anything else. */
export const str = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A number, 0 for anything else. */
export const num = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Members of a map of strings sorted by key. */
export const entries = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    : [];

/** The condition of a type in `status.conditions`. */
export const condition = (object: unknown, type: string): unknown =>
  list(at(object, 'status', 'conditions')).find(entry => member(entry, 'type') === type);

/** Whether a condition is `True`. */
export const isTrue = (object: unknown, type: string): boolean => member(condition(object, type), 'status') === 'True';

/** Comma-joined, at most `most`, then how many more there are; `none` stands for an empty list. */
export function shortList(items: readonly string[], most: number, none: string, separator = ','): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** Time since an RFC 3339 time; `absent` where there is none. */
export function since(time: unknown, now: number, absent = '<unknown>'): string {
  const then = Date.parse(str(time));
  return Number.isNaN(then) ? absent : humanDuration(now - then);
}

/** A map of labels as selector text, its terms sorted as they read: `a.b=x` goes before `a=y`. */
export const labelsText = (labels: unknown, none = '<none>'): string =>
  entries(labels)
    .map(([key, value]) => `${key}=${str(value)}`)
    .sort()
    .join(',') || none;

/** A LabelSelector, or a plain map of labels, as text; empty or absent is `<none>`. */
export const selectorText = (selector: unknown): string =>
  member(selector, 'matchLabels') === undefined && list(member(selector, 'matchExpressions')).length === 0
    ? labelsText(selector)
    : labelSelectorText(selector as object) || '<none>';

const dotted = (path: string): string[] => path.split('.');

/** The string at a path. */
export const text = (path: string, absent = ''): Cell => {
  const keys = dotted(path);
  return object => str(at(object, ...keys)) || absent;
};

/** The number at a path, 0 where absent, unless another value stands for that. */
export const integer = (path: string, absent: Value = 0): Cell => {
  const keys = dotted(path);
  return object => {
    const value = at(object, ...keys);
    return typeof value === 'number' ? value : absent;
  };
};

/** The boolean at a path. */
export const flag = (path: string, absent: Value = false): Cell => {
  const keys = dotted(path);
  return object => {
    const value = at(object, ...keys);
    return typeof value === 'boolean' ? value : absent;
  };
};

/** A scalar at a path as text, whatever its type. */
export const scalar = (path: string, absent: string): Cell => {
  const keys = dotted(path);
  return object => {
    const value = at(object, ...keys);
    return value === undefined || value === null || value === '' ? absent : String(value);
  };
};

/** The number of entries of the lists or maps at the paths. */
export const count = (...paths: readonly string[]): Cell => {
  const all = paths.map(dotted);
  return object => {
    let total = 0;
    for (const keys of all) {
      const value = at(object, ...keys);
      if (typeof value === 'object' && value !== null) total += Object.keys(value).length;
    }
    return total;
  };
};

/** The strings at a path, comma-joined. */
export const joined = (path: string, absent = ''): Cell => {
  const keys = dotted(path);
  return object =>
    list(at(object, ...keys))
      .map(str)
      .join(',') || absent;
};

/** One column. */
export const column = (name: string, cell: Cell, look: Look = {}): Column => ({
  name,
  type: look.type ?? 'string',
  format: look.format ?? '',
  priority: look.wide ? 1 : 0,
  description: look.description ?? `${name} of the object.`,
  cell,
});

/** A column of whole numbers. */
export const integers = (name: string, path: string): Column => column(name, integer(path), { type: 'integer' });

/** A column shown in the wide form only. */
export const wide = (name: string, cell: Cell): Column => column(name, cell, { wide: true });

/** The object's name. */
export const NAME = column('Name', text('metadata.name'), {
  format: 'name',
  description: 'Name of the object, unique among those of its kind in its namespace.',
});

/** Time since creation. */
export const AGE = column('Age', (object, now) => since(object.metadata?.creationTimestamp, now), {
  description: 'Time since the object was created.',
});
