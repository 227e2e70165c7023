import type { ResourceColumn } from '../../api/resource.js';
import type { Column } from '../../api/strategy.js';
import { humanDuration } from '../../model/age.js';
import type { Json } from '../../model/object.js';
import { NAME_COLUMN } from '../../tables/index.js';
import { deeplySorted } from '../patch/members.js';
import { BadPath, compilePath, type JsonPath } from './jsonPath.js';

type Cell = string | number | boolean | null;

const date = (value: unknown, now: number): Cell => {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? '<invalid>' : humanDuration(now - at);
};

/** Go's encoder sorts the members of maps. */
const text = (value: unknown): Cell => (typeof value === 'string' ? value : JSON.stringify(deeplySorted(value as Json)));

/** The cell of a column of that type; values of another type leave it empty. */
function cellOf(value: unknown, type: string, now: number): Cell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return text(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return date(value, now);
    default:
      return null;
  }
}

/** Without columns of its own a resource type shows when its objects were made (spec, "Table representation"), as an age. */
const CREATED: ResourceColumn = {
  name: 'Created At',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the object was created.',
};

/** A column whose path is none shows nothing: definitions are refused for their path's first character only. */
function pathTo(text: string): JsonPath {
  try {
    return compilePath(text);
  } catch (error) {
    if (!(error instanceof BadPath)) throw error;
    return () => [];
  }
}

function columnOf({ name, type, format = '', description, priority = 0, jsonPath }: ResourceColumn): Column {
  let path: JsonPath | undefined;
  return {
    name,
    type,
    format,
    priority,
    description: description ?? `Value at ${jsonPath}.`,
    cell: (object, now) => {
      path ??= pathTo(jsonPath);
      return cellOf(path(object)[0], type, now);
    },
  };
}

/** The printed columns of a version of a resource type: the name, then its own. */
export const columnsOf = (own: readonly ResourceColumn[] | undefined): readonly Column[] => [
  NAME_COLUMN,
  ...(own?.length ? own : [CREATED]).map(columnOf),
];
