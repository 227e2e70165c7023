import { type CellValue, humanDuration, isAge } from '../../model/age.js';
import type { ApiObject } from '../../model/object.js';
import type { Strategy } from '../../api/strategy.js';
import { decodeStored } from '../../plugin/informers/stored.js';
import { encodeJson } from '../../schema/json/json.js';
import type { Resource } from '../../schema/resource.js';
import { metadataStart, withoutManagedFields } from '../../schema/json/storedText.js';
import { DEFAULT_COLUMNS } from './index.js';

/**
 * The texts of rows of Tables that are cached as long as their objects do not change. Each begins with a comma and ends
 * before the value of the member `object`. Ages are represented by times, between bytes that JSON does not contain.
 */

/** The bytes before and after the digits of a time that is shown as an age. */
const TIME = 0;
/** Ends the text of each row. */
const ROW_END = 1;
const ZERO = 0x30;

/** The contents of a JSON string. */
const contents = (text: string): string => (text === '' ? '' : encodeJson(text).slice(1, -1));

function cellText(cell: CellValue): string {
  if (!isAge(cell)) return encodeJson(cell);
  const { since, before = '', after = '' } = cell;
  const mark = String.fromCharCode(TIME);
  return `"${contents(before)}${mark}${since}${mark}${contents(after)}"`;
}

/**
 * The cached texts of rows, for stored objects of a built-in kind. Cells are computed without managed fields, which are
 * a third of an object and shown in no cell.
 */
export function rowTexts(resource: Resource, texts: readonly Uint8Array[]): Uint8Array[] {
  const start = metadataStart(resource);
  return texts.map(text => rowText(decodeStored(withoutManagedFields(text, start)), resource.strategy));
}

function rowText(object: ApiObject, { columns = DEFAULT_COLUMNS, rowConditions }: Partial<Strategy>): Buffer {
  const conditions = rowConditions?.(object) ?? [];
  const cells = columns.map(column => cellText(column.cell(object))).join(',');
  const rest = conditions.length > 0 ? `,"conditions":${encodeJson(conditions)}` : '';
  return Buffer.from(`,{"cells":[${cells}]${rest},"object":${String.fromCharCode(ROW_END)}`);
}

/** Receives the parts of texts in order. */
export interface RowWriter {
  copy(from: Uint8Array, start: number, end: number): void;
  write(text: string): void;
}

/**
 * Writes the cached texts of rows one after another, with a comma before each. `endRow` is called after each, to write
 * its object and the rest of the row.
 */
export function showRows(rows: Uint8Array, now: number, writer: RowWriter, endRow: () => void): void {
  let shown = 0;
  for (let at = 0; at < rows.length; at++) {
    const byte = rows[at]!;
    if (byte > ROW_END) continue;
    writer.copy(rows, shown, at);
    if (byte === ROW_END) endRow();
    else {
      const start = at + 1;
      at = rows.indexOf(TIME, start);
      writer.write(contents(humanDuration(now - digitsIn(rows, start, at))));
    }
    shown = at + 1;
  }
}

/** An integer, which may be negative. */
function digitsIn(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start]! < ZERO;
  let value = 0;
  for (let i = isNegative ? start + 1 : start; i < end; i++) value = value * 10 + bytes[i]! - ZERO;
  return isNegative ? -value : value;
}
