import type { ResourceColumn } from '../../api/resource.js';
import type { Column } from '../../api/strategy.js';
import { humanDuration } from '../../model/age.js';
import type { ApiObject, Json } from '../../model/object.js';
import { NAME_COLUMN } from '../../tables/index.js';
import { encodeJson } from '../json.js';
import { deeplySorted } from '../patch/members.js';
import { timeOf } from '../scalars.js';
import { BadPath, compilePath, type JsonPath } from './jsonPath.js';

type Cell = string | number | boolean | null;

/** No time at all is unknown; other text that is no RFC 3339 is invalid. */
function date(value: unknown, now: number): Cell {
  if (typeof value !== 'string') return null;
  if (value === '' || value === 'null') return '<unknown>';
  const at = timeOf(value);
  return at === undefined ? '<invalid>' : humanDuration(now - at);
}

/** As Go prints a number: large and small ones that are no whole numbers get an exponent of two digits at least. */
function numberText(value: number): string {
  const [digits, exponent] = value.toExponential().split('e').map(Number) as [number, number];
  if (Number.isSafeInteger(value) || (exponent >= -4 && exponent < 6)) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** What is there reads as text whatever its type, null included. */
function text(value: unknown): Cell {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return encodeJson(deeplySorted(value as Json));
  return typeof value === 'number' ? numberText(value) : String(value);
}

/** The cell of a column of that type; values of another type leave it empty. */
function cellOf(value: unknown, type: string, now: number): Cell {
  if (value === undefined) return null;
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

/**
 * Without columns of its own a resource type shows when its objects were made (spec, "Table representation"), as an
 * age.
 */
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

/** The first value that a path leads to; none where the object does not have what the path takes for granted. */
function firstAt(path: JsonPath, object: ApiObject): unknown {
  try {
    return path(object)[0];
  } catch (error) {
    if (!(error instanceof BadPath)) throw error;
    return undefined;
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
      return cellOf(firstAt(path, object), type, now);
    },
  };
}

/** The printed columns of a version of a resource type: the name, then its own. */
export const columnsOf = (own: readonly ResourceColumn[] | undefined): readonly Column[] => [
  NAME_COLUMN,
  ...(own?.length ? own : [CREATED]).map(columnOf),
];
