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

/**
 * Compiles a path; undefined for a malformed one, because the validation of definitions checks only the first
 * character.
 */
function compileIfValid(text: string): JsonPath | undefined {
  try {
    return compilePath(text);
  } catch (error) {
    if (!(error instanceof InvalidPath)) throw error;
    return undefined;
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

const toColumn = (
  { name, type, format = '', description, priority = 0, jsonPath }: ResourceColumn,
  path: JsonPath,
): Column => ({
  name,
  type,
  format,
  priority,
  description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  cell: object => cellOf(firstValue(path, object), type),
});

/**
 * The printer columns of a version of a resource type, after the Name column. A column with a malformed path, and those
 * after it, are not shown, as in upstream's tables.
 */
export function columnsOf(columns: readonly ResourceColumn[] | undefined): readonly Column[] {
  const shown: Column[] = [NAME_COLUMN];
  for (const column of columns?.length ? columns : [CREATED_AT]) {
    const path = compileIfValid(column.jsonPath);
    if (!path) break;
    shown.push(toColumn(column, path));
  }
  return shown;
}
