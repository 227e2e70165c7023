import type { ResourceColumn } from '../../api/resource.js';
import type { Column } from '../../api/strategy.js';
import type { CellValue } from '../../model/age.js';
import { doubleText, isInteger, isNumber } from '../../model/text/jsonText.js';
import type { ApiObject, Json } from '../../model/object.js';
import { NAME_COLUMN } from '../../services/tables/index.js';
import { encodeJson } from '../json/json.js';
import { sortDeep } from '../patch/members.js';
import { parseTime } from '../decode/scalars.js';
import { InvalidPath, compilePath, type JsonPath } from './jsonPath.js';

/** The age since a time in RFC 3339. An empty text is shown as unknown, any other as invalid. */
function dateCell(value: unknown): CellValue {
  if (typeof value !== 'string') return null;
  if (value === '' || value === 'null') return '<unknown>';
  const at = parseTime(value);
  return at === undefined ? '<invalid>' : { since: at };
}

/** The cell of a string column: any value as text. */
function textCell(value: unknown): CellValue {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return encodeJson(sortDeep(value as Json));
  return typeof value === 'number' && !isInteger(value) ? doubleText(value) : String(value);
}

/** The cell of a column of a type. It is empty for values of another type. */
function cellOf(value: unknown, type: string): CellValue {
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return textCell(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return isNumber(value) ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return dateCell(value);
    default:
      return null;
  }
}

/** The column of resource types that define none (spec, "Table representation"), shown as an age. */
const CREATED_AT: ResourceColumn = {
  name: 'Created At',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the object was created.',
};

/** Compiles a path. A malformed one matches nothing: definitions are only validated for the first character. */
function compileOrEmpty(textCell: string): JsonPath {
  try {
    return compilePath(textCell);
  } catch (error) {
    if (!(error instanceof InvalidPath)) throw error;
    return () => [];
  }
}

/** The first value at a path; undefined if there is none or the path does not apply. */
function firstValue(path: JsonPath, object: ApiObject): unknown {
  try {
    return path(object)[0];
  } catch (error) {
    if (!(error instanceof InvalidPath)) throw error;
    return undefined;
  }
}

function toColumn({ name, type, format = '', description, priority = 0, jsonPath }: ResourceColumn): Column {
  let path: JsonPath | undefined;
  return {
    name,
    type,
    format,
    priority,
    description: description ?? `Value at ${jsonPath}.`,
    cell: object => {
      path ??= compileOrEmpty(jsonPath);
      return cellOf(firstValue(path, object), type);
    },
  };
}

/** The printer columns of a version of a resource type, after the Name column. */
export const columnsOf = (columns: readonly ResourceColumn[] | undefined): readonly Column[] => [
  NAME_COLUMN,
  ...(columns?.length ? columns : [CREATED_AT]).map(toColumn),
];
