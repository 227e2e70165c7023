import { isBase64 } from '../../model/text/base64.js';
import { integerValue, isInteger, isNumber } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';

/** Plain scalars that do not resolve to strings. */
const WORDS = new Map<string, Json>([
  ...['', '~', 'null', 'Null', 'NULL'].map(word => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(word => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(word => [word, false] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(word => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map(word => [word, Number.NEGATIVE_INFINITY] as const),
  ...['.nan', '.NaN', '.NAN'].map(word => [word, Number.NaN] as const),
]);
/** The length of the longest word, so that longer texts need no look-up. */
const LONGEST_WORD = 5;

const INTEGER = /^[-+]?(?:0b[01]+|0o?[0-7]+|0x[\da-fA-F]+|\d+)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/** Whether a text begins as numbers do: with a digit, a sign or a point. */
function beginsAsNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
}

/** The longest texts of integers that are always safe, and the longest that are read exactly. */
const [SHORT, LONG] = [13, 100];

function integerOf(text: string): number | bigint {
  const isNegative = text.startsWith('-');
  const unsigned = /^[-+]/.test(text) ? text.slice(1) : text;
  const digits = /^0[0-7]+$/.test(unsigned) ? `0o${unsigned.slice(1)}` : unsigned;
  if (text.length <= SHORT || text.length > LONG) return isNegative ? -Number(digits) : Number(digits);
  return integerValue(isNegative ? -BigInt(digits) : BigInt(digits));
}

/** The number that a text represents in YAML 1.1, except times of day; undefined if it is not a number. */
function numberOf(text: string): number | bigint | undefined {
  if (!beginsAsNumber(text)) return undefined;
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  if (INTEGER.test(plain)) return integerOf(plain);
  return FLOAT.test(plain) ? floatOf(Number(plain)) : undefined;
}

/** Upstream converts YAML to JSON, in which a float without a fraction is an integer if 64 bits hold it. */
const floatOf = (value: number): number | bigint =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? integerValue(BigInt(value)) : value;

/**
 * Returns the value of a plain scalar of YAML 1.1 by upstream's rules: times of day, timestamps and everything unknown
 * are strings. Infinities and NaN are returned as such.
 */
export function resolveScalar(text: string): Json {
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  return numberOf(text) ?? text;
}

/** The name of the type that a plain scalar resolves to, without the prefix of its tag. */
export const typeNameOf = (value: Json): string => {
  if (value === null) return 'null';
  if (isNumber(value)) return isInteger(value) ? 'int' : 'float';
  return typeof value === 'boolean' ? 'bool' : 'str';
};

/** The text whose bytes are given in base64, with or without line ends; undefined if it is malformed. */
function textOfBase64(text: string): string | undefined {
  const encoded = text.replace(/[\r\n]/g, '');
  return isBase64(encoded) ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}

/**
 * The value of a scalar with a tag of YAML 1.1, named without its prefix: of a binary, the text that its bytes are in
 * UTF-8. Values of tags without a JSON form are strings. Undefined if the text is not of that type.
 */
export function resolveTagged(name: string, text: string): Json | undefined {
  if (name === 'binary') return textOfBase64(text);
  if (!['null', 'bool', 'int', 'float'].includes(name)) return text;
  const value = resolveScalar(text);
  const found = typeNameOf(value);
  return found === name || (name === 'float' && found === 'int') ? value : undefined;
}
