/**
 * Quantities: decimal numbers with SI or binary suffixes. As upstream keeps them, in one of two forms, since what
 * `isInteger` says follows from the form: a small one (an int64 and a power of ten), or one of any size with a decimal
 * scale.
 */
import { declare, declareGlobal } from '../declarations.js';
import type { Library } from '../environment.js';
import { canonical, Double, fail, INT_MAX, INT_MIN, type Int, Opaque, type Value } from '../values.js';

const NAME = 'kubernetes.Quantity';
/** Finer parts round away from zero. */
const NANO_SCALE = 9;
/** Digits that surely fit the small form. */
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

const power = (exponent: number): bigint => 10n ** BigInt(exponent);
const fits = (n: bigint): boolean => n <= INT_MAX && n >= INT_MIN;

/** A quantity: `digits` times ten to the `exponent`. */
export class Quantity extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly digits: bigint,
    readonly exponent: number,
    /** In the form of an int64; sums that overflow leave it. */
    readonly small: boolean,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Quantity && order(this, other) === 0;
  }
}

/** Brings both to the smaller exponent. Exponents are bounded by the reader. */
function aligned(a: Quantity, b: Quantity): readonly [a: bigint, b: bigint, exponent: number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * power(a.exponent - exponent), b.digits * power(b.exponent - exponent), exponent];
}

function order(a: Quantity, b: Quantity): number {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

function plus(a: Quantity, b: Quantity): Quantity {
  if (a.small && b.small) {
    if (b.digits === 0n) return a;
    if (a.digits === 0n) return b;
  }
  const [x, y, exponent] = aligned(a, b);
  return new Quantity(x + y, exponent, a.small && b.small && fits(x) && fits(y) && fits(x + y));
}
const minus = (a: Quantity, b: Quantity): Quantity => plus(a, new Quantity(-b.digits, b.exponent, b.small));

/** Why a text is no quantity. */
const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX = "unable to parse quantity's suffix";

/**
 * The parts of a text; either number may be empty. Digits have one place each: more than one would be tried by the
 * thousands.
 */
const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/;

/** Reads a quantity, or says why not. */
export function parseQuantity(text: string): Quantity | string {
  const m = PARTS.exec(text);
  if (!m || text === '' || text.length > 1000) return FORM;
  const [, sign, whole, denom = '', suffix] = m as unknown as [string, string, string, string | undefined, string];
  const num = whole.replace(/^0+/, '');
  const scale = suffixScale(suffix);
  if (!scale) return SUFFIX;
  const made = scale.binary ? binary(num || '0', denom, scale.exponent) : decimal(num || '0', denom, scale.exponent);
  return sign === '-' ? new Quantity(-made.digits, made.exponent, made.small) : made;
}

function suffixScale(suffix: string): { binary: boolean; exponent: number } | undefined {
  const ten = DECIMAL.get(suffix);
  if (ten !== undefined) return { binary: false, exponent: ten };
  const two = BINARY.get(suffix);
  if (two !== undefined) return { binary: true, exponent: two };
  const written = /^[eE]([-+]?\d+)$/.exec(suffix);
  // An exponent of thousands would make digits of thousands: no client means it.
  return written && Math.abs(Number(written[1])) <= 1000 ? { binary: false, exponent: Number(written[1]) } : undefined;
}

function decimal(num: string, denom: string, exponent: number): Quantity {
  const scale = exponent - denom.length;
  const digits = BigInt(num + denom);
  if (num.length + denom.length <= SMALL_DIGITS && scale >= -NANO_SCALE) return new Quantity(digits, scale, true);
  return rounded(digits, scale);
}

function binary(num: string, denom: string, exponent: number): Quantity {
  const digits = BigInt(num + denom) * 2n ** BigInt(exponent);
  const room = 15 - num.length - Math.trunc((exponent * 3) / 10) - 1;
  if (denom === '' && room >= 0 && fits(digits)) return new Quantity(digits, 0, true);
  const made = rounded(digits, -denom.length);
  const limit = new Quantity(INT_MAX, 0, false);
  return order(made, limit) > 0 ? limit : made;
}

/** The large form: upstream gives it nine decimals, the last rounded up. */
function rounded(digits: bigint, exponent: number): Quantity {
  if (digits === 0n) return new Quantity(0n, exponent, false);
  const shift = exponent + NANO_SCALE;
  if (shift >= 0) return new Quantity(digits * power(shift), -NANO_SCALE, false);
  const divisor = power(-shift);
  return new Quantity((digits + divisor - 1n) / divisor, -NANO_SCALE, false);
}

function make(v: Value): Quantity {
  const made = parseQuantity(v as string);
  return made instanceof Quantity ? made : fail(made);
}

/** The value as an int64 where the form gives it without a division. */
function integer(v: Value): bigint | undefined {
  const q = v as Quantity;
  if (!q.small || q.exponent < 0) return undefined;
  if (q.exponent > SMALL_DIGITS) return q.digits === 0n ? 0n : undefined;
  const n = q.digits * power(q.exponent);
  return fits(n) ? n : undefined;
}
const approximate = (v: Value): Value => {
  const { digits, exponent } = v as Quantity;
  if (exponent === 0) return new Double(Number(digits));
  return new Double(Number(digits) * Number(`1e${exponent}`));
};
const fromInt = (n: Value): Quantity => new Quantity(BigInt(n as Int), 0, true);
const sign = (v: Value): Value => ((v as Quantity).digits > 0n ? 1 : (v as Quantity).digits < 0n ? -1 : 0);
const compared = (a: Value, b: Value): number => order(a as Quantity, b as Quantity);

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
      return make(v);
    }),
    declareGlobal(`sign(${NAME}): int`, sign),
    declare(`${NAME}.sign(): int`, sign),
    declare(`${NAME}.isInteger(): bool`, v => integer(v) !== undefined),
    declare(`${NAME}.asInteger(): int`, v => canonical(integer(v) ?? fail('cannot convert value to integer'))),
    declare(`${NAME}.asApproximateFloat(): double`, approximate),
    declare(`${NAME}.add(${NAME}): ${NAME}`, (a, b) => plus(a as Quantity, b as Quantity)),
    declare(`${NAME}.add(int): ${NAME}`, (a, b) => plus(a as Quantity, fromInt(b))),
    declare(`${NAME}.sub(${NAME}): ${NAME}`, (a, b) => minus(a as Quantity, b as Quantity)),
    declare(`${NAME}.sub(int): ${NAME}`, (a, b) => minus(a as Quantity, fromInt(b))),
    declare(`${NAME}.isLessThan(${NAME}): bool`, (a, b) => compared(a, b) < 0),
    declare(`${NAME}.isGreaterThan(${NAME}): bool`, (a, b) => compared(a, b) > 0),
    declare(`${NAME}.compareTo(${NAME}): int`, compared),
  ],
};
