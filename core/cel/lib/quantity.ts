/**
 * Quantities: decimal numbers with SI or binary suffixes. Like upstream, they have one of two forms: small (an int64
 * and a power of ten) or large (any size, nine decimals). The result of `isInteger` depends on the form.
 */
import { declare, declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import { canonical, Double, fail, INT_MAX, INT_MIN, type Int, Opaque, type Value } from '../evaluate/values.js';

const NAME = 'kubernetes.Quantity';
/** Decimals of a quantity; further ones are rounded away from zero. */
const NANO_SCALE = 9;
/** A number of digits that always fits in an int64. */
const SMALL_DIGITS = 18;

/** Powers of ten by suffix. */
const DECIMAL = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((s, i) => [s, 3 * (i + 1)] as const),
]);
/** Powers of two by suffix. */
const BINARY = new Map(['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((s, i) => [s, 10 * (i + 1)] as const));

const powerOfTen = (exponent: number): bigint => 10n ** BigInt(exponent);
const fitsInt64 = (n: bigint): boolean => n <= INT_MAX && n >= INT_MIN;

/** A quantity: `digits` times ten to the `exponent`. */
export class Quantity extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly digits: bigint,
    readonly exponent: number,
    /** Whether it has the small form; a sum that overflows does not. */
    readonly small: boolean,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Quantity && compareQuantities(this, other) === 0;
  }
}

/** Scales both to the smaller exponent. The parser bounds exponents. */
function align(a: Quantity, b: Quantity): readonly [a: bigint, b: bigint, exponent: number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * powerOfTen(a.exponent - exponent), b.digits * powerOfTen(b.exponent - exponent), exponent];
}

function compareQuantities(a: Quantity, b: Quantity): number {
  const [x, y] = align(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

function plus(a: Quantity, b: Quantity): Quantity {
  if (a.small && b.small) {
    if (b.digits === 0n) return a;
    if (a.digits === 0n) return b;
  }
  const [x, y, exponent] = align(a, b);
  return new Quantity(x + y, exponent, a.small && b.small && fitsInt64(x) && fitsInt64(y) && fitsInt64(x + y));
}
const minus = (a: Quantity, b: Quantity): Quantity => plus(a, new Quantity(-b.digits, b.exponent, b.small));

/** Errors of the parser. */
const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX = "unable to parse quantity's suffix";

/** The parts of a quantity; each may be empty. No digit can match in two ways, so that matching takes linear time. */
const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/;

/** Parses a quantity. Returns the error as text. */
export function parseQuantity(text: string): Quantity | string {
  const m = PARTS.exec(text);
  if (!m || text === '' || text.length > 1000) return FORM;
  const [, sign, whole, denom = '', suffix] = m as unknown as [string, string, string, string | undefined, string];
  const num = whole.replace(/^0+/, '');
  const scale = suffixScale(suffix);
  if (!scale) return SUFFIX;
  const parsed = scale.binary ? binary(num || '0', denom, scale.exponent) : decimal(num || '0', denom, scale.exponent);
  return sign === '-' ? new Quantity(-parsed.digits, parsed.exponent, parsed.small) : parsed;
}

function suffixScale(suffix: string): { binary: boolean; exponent: number } | undefined {
  const ten = DECIMAL.get(suffix);
  if (ten !== undefined) return { binary: false, exponent: ten };
  const two = BINARY.get(suffix);
  if (two !== undefined) return { binary: true, exponent: two };
  const written = /^[eE]([-+]?\d+)$/.exec(suffix);
  // The exponent is bounded, because it determines the number of digits to compute with.
  return written && Math.abs(Number(written[1])) <= 1000 ? { binary: false, exponent: Number(written[1]) } : undefined;
}

function decimal(num: string, denom: string, exponent: number): Quantity {
  const scale = exponent - denom.length;
  const digits = BigInt(num + denom);
  if (num.length + denom.length <= SMALL_DIGITS && scale >= -NANO_SCALE) return new Quantity(digits, scale, true);
  return toLargeForm(digits, scale);
}

function binary(num: string, denom: string, exponent: number): Quantity {
  const digits = BigInt(num + denom) * 2n ** BigInt(exponent);
  const room = 15 - num.length - Math.trunc((exponent * 3) / 10) - 1;
  if (denom === '' && room >= 0 && fitsInt64(digits)) return new Quantity(digits, 0, true);
  const parsed = toLargeForm(digits, -denom.length);
  const limit = new Quantity(INT_MAX, 0, false);
  return compareQuantities(parsed, limit) > 0 ? limit : parsed;
}

/** The large form: nine decimals, the last rounded up. Upstream has the same precision. */
function toLargeForm(digits: bigint, exponent: number): Quantity {
  if (digits === 0n) return new Quantity(0n, exponent, false);
  const shift = exponent + NANO_SCALE;
  if (shift >= 0) return new Quantity(digits * powerOfTen(shift), -NANO_SCALE, false);
  const divisor = powerOfTen(-shift);
  return new Quantity((digits + divisor - 1n) / divisor, -NANO_SCALE, false);
}

function quantityFromText(v: Value): Quantity {
  const parsed = parseQuantity(v as string);
  return parsed instanceof Quantity ? parsed : fail(parsed);
}

/** The value as an int64, if the form gives it without a division. */
function toInteger(v: Value): bigint | undefined {
  const q = v as Quantity;
  if (!q.small || q.exponent < 0) return undefined;
  if (q.exponent > SMALL_DIGITS) return q.digits === 0n ? 0n : undefined;
  const n = q.digits * powerOfTen(q.exponent);
  return fitsInt64(n) ? n : undefined;
}
const approximate = (v: Value): Value => {
  const { digits, exponent } = v as Quantity;
  if (exponent === 0) return new Double(Number(digits));
  return new Double(Number(digits) * Number(`1e${exponent}`));
};
const fromInt = (n: Value): Quantity => new Quantity(BigInt(n as Int), 0, true);
const sign = (v: Value): Value => ((v as Quantity).digits > 0n ? 1 : (v as Quantity).digits < 0n ? -1 : 0);
const compareValues = (a: Value, b: Value): number => compareQuantities(a as Quantity, b as Quantity);

/** The quantity library. */
export const QUANTITY: Library = {
  name: 'quantity',
  types: [NAME],
  functions: [
    declareGlobal('isQuantity(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return parseQuantity(v as string) instanceof Quantity;
    }),
    declareGlobal(`quantity(string): ${NAME}`, (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return quantityFromText(v);
    }),
    declareGlobal(`sign(${NAME}): int`, sign),
    declare(`${NAME}.sign(): int`, sign),
    declare(`${NAME}.isInteger(): bool`, v => toInteger(v) !== undefined),
    declare(`${NAME}.asInteger(): int`, v => canonical(toInteger(v) ?? fail('cannot convert value to integer'))),
    declare(`${NAME}.asApproximateFloat(): double`, approximate),
    declare(`${NAME}.add(${NAME}): ${NAME}`, (a, b) => plus(a as Quantity, b as Quantity)),
    declare(`${NAME}.add(int): ${NAME}`, (a, b) => plus(a as Quantity, fromInt(b))),
    declare(`${NAME}.sub(${NAME}): ${NAME}`, (a, b) => minus(a as Quantity, b as Quantity)),
    declare(`${NAME}.sub(int): ${NAME}`, (a, b) => minus(a as Quantity, fromInt(b))),
    declare(`${NAME}.isLessThan(${NAME}): bool`, (a, b) => compareValues(a, b) < 0),
    declare(`${NAME}.isGreaterThan(${NAME}): bool`, (a, b) => compareValues(a, b) > 0),
    declare(`${NAME}.compareTo(${NAME}): int`, compareValues),
  ],
};
