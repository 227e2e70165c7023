import { doubleText, isInteger, isNumber } from './jsonText.js';
import type { Json } from './object.js';
import { goQuote } from './quote.js';
import { Verbatim } from './refusal.js';

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
