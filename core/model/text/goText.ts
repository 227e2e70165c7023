import { doubleText, isInteger, isNumber } from './jsonText.js';
import type { Json } from '../object.js';
import { isRecord } from '../record.js';
import { goQuote } from './quote.js';
import { Verbatim } from '../refusal.js';

/** A list of strings as Go prints it in messages. */
export const goStrings = (texts: readonly string[]): Verbatim =>
  new Verbatim(`[]string{${texts.map(goQuote).join(', ')}}`);

/** A decoded JSON value as Go prints it in messages. Strings are quoted, members are sorted by name. */
export const goValue = (value: Json): Verbatim => new Verbatim(goLiteral(value, '"null"'));

function goLiteral(value: Json, nil: string): string {
  if (value === null || value === undefined) return nil;
  if (typeof value === 'string') return goQuote(value);
  if (isNumber(value)) return isInteger(value) ? String(value) : doubleText(Number(value));
  if (typeof value !== 'object') return String(value);
  const inner = (below: Json): string => goLiteral(below, 'interface {}(nil)');
  if (Array.isArray(value)) return `[]interface {}{${value.map(inner).join(', ')}}`;
  const members = Object.keys(value).sort();
  return `map[string]interface {}{${members.map(name => `${goQuote(name)}:${inner(value[name]!)}`).join(', ')}}`;
}

/** The type of a JSON value as Go names it. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  if (isNumber(value)) return isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : '<nil>';
}

/** A decoded JSON value as Go prints it within a sentence: strings without quotes, `map[a:1]`, `[1 2]`. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (isNumber(value)) return isInteger(value) ? String(value) : doubleText(Number(value));
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  const members = Object.keys(value).sort();
  return `map[${members.map(name => `${name}:${goText(value[name]!)}`).join(' ')}]`;
}
