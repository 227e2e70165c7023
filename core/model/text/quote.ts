/** Texts in quotes, as Go prints them. */

const ESCAPES = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);
const BROKEN_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** Characters that Go escapes. */
const ESCAPED = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** `strings.quote` of CEL: the string in double quotes, with the escapes of the language. */
export const quote = (s: string): string =>
  `"${s.replace(BROKEN_PAIR, '\ufffd').replace(/[\x07-\r\\"]/g, c => ESCAPES.get(c) ?? c)}"`;

/** Go's `%q`: the string in double quotes, with all unprintable characters escaped. */
export function goQuote(s: string): string {
  if (/^[ !#-[\]-~]*$/.test(s)) return `"${s}"`;
  const escaped = s
    .replace(BROKEN_PAIR, '\ufffd')
    .replace(ESCAPED, c => ESCAPES.get(c) ?? codeEscape(c.codePointAt(0)!));
  return `"${escaped}"`;
}
function codeEscape(code: number): string {
  if (code < 32 || code === 127) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}
