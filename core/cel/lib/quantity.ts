/** Quantities: decimal numbers with SI or binary suffixes. */
import { declare, declareGlobal } from '../declarations.js';
import type { Library } from '../environment.js';
import { canonical, Double, fail, INT_MAX, INT_MIN, type Int, Opaque, type Value } from '../values.js';

const NAME = 'kubernetes.Quantity';
const NANO = 1_000_000_000n;
const SUFFIXES = new Map<string, readonly [numerator: bigint, scale: bigint]>([
  ['n', [1n, NANO]],
  ['u', [1000n, NANO]],
  ['m', [1_000_000n, NANO]],
  ['', [1n, 1n]],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((s, i) => [s, [10n ** BigInt(3 * (i + 1)), 1n]] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((s, i) => [s, [1024n ** BigInt(i + 1), 1n]] as const),
]);

/** A quantity, exact to a billionth (finer parts round away from zero). `exact` remembers a value written without fraction or small suffix. */
export class Quantity extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly nanos: bigint,
    readonly integral: boolean,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nanos === this.nanos;
  }
}

/** Reads a quantity; `undefined` when malformed. */
export function parseQuantity(text: string): Quantity | undefined {
  const m = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,9})|([a-zA-Z]{0,2}))$/.exec(text);
  if (!m || (!m[2] && !m[3]) || text.length > 1000) return undefined;
  const exponent = m[4] ? Number(m[4].slice(1)) : 0;
  const suffix = SUFFIXES.get(m[5] ?? '');
  if (!suffix || Math.abs(exponent) > 1000) return undefined;
  const fraction = m[3] ?? '';
  let numerator = BigInt((m[2] ?? '') + fraction || '0') * suffix[0] * NANO;
  let denominator = 10n ** BigInt(fraction.length) * suffix[1];
  if (exponent > 0) numerator *= 10n ** BigInt(exponent);
  else denominator *= 10n ** BigInt(-exponent);
  const nanos = (numerator + denominator - 1n) / denominator;
  const decimals = fraction.replace(/0+$/, '').length;
  const thousand = 'kMGTPE'.includes(m[5] || '?') ? 3 * ('kMGTPE'.indexOf(m[5]!) + 1) : exponent;
  const small = m[5] === 'n' || m[5] === 'u' || m[5] === 'm';
  const binaryFraction = suffix[0] > 1n && m[5]?.endsWith('i') && decimals > 0;
  return new Quantity(
    m[1] === '-' ? -nanos : nanos,
    (!small && !binaryFraction && decimals <= Math.max(0, thousand)) || nanos === 0n,
  );
}

function make(v: Value): Quantity {
  return (
    parseQuantity(v as string) ??
    fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
  );
}
function integer(v: Value): bigint | undefined {
  const q = v as Quantity;
  if (!q.integral || q.nanos % NANO) return undefined;
  const n = q.nanos / NANO;
  return n > INT_MAX || n < INT_MIN ? undefined : n;
}
const approximate = (v: Value): Value => {
  const { nanos } = v as Quantity;
  return new Double(nanos % NANO ? Number(`${nanos}e-9`) : Number(nanos / NANO));
};
const combined = (a: Value, nanos: bigint, integral: boolean): Quantity =>
  new Quantity((a as Quantity).nanos + nanos, (a as Quantity).integral && integral);
const order = (a: Value, b: Value): number =>
  (a as Quantity).nanos < (b as Quantity).nanos ? -1 : (a as Quantity).nanos > (b as Quantity).nanos ? 1 : 0;
const sign = (v: Value): Value => ((v as Quantity).nanos > 0n ? 1 : (v as Quantity).nanos < 0n ? -1 : 0);

/** The quantity library. */
export const QUANTITY: Library = {
  name: 'quantity',
  types: [NAME],
  functions: [
    declareGlobal(
      'isQuantity(string): bool',
      (v, _b, _c, m) => {
        m.traverse((v as string).length);
        return parseQuantity(v as string) !== undefined;
      },
      'traverse',
    ),
    declareGlobal(
      `quantity(string): ${NAME}`,
      (v, _b, _c, m) => {
        m.traverse((v as string).length);
        return make(v);
      },
      'traverse',
    ),
    declareGlobal(`sign(${NAME}): int`, sign),
    declare(`${NAME}.sign(): int`, sign),
    declare(`${NAME}.isInteger(): bool`, v => integer(v) !== undefined),
    declare(`${NAME}.asInteger(): int`, v => canonical(integer(v) ?? fail('cannot convert value to integer'))),
    declare(`${NAME}.asApproximateFloat(): double`, approximate),
    declare(`${NAME}.add(${NAME}): ${NAME}`, (a, b) => combined(a, (b as Quantity).nanos, (b as Quantity).integral)),
    declare(`${NAME}.add(int): ${NAME}`, (a, b) => combined(a, BigInt(b as Int) * NANO, true)),
    declare(`${NAME}.sub(${NAME}): ${NAME}`, (a, b) => combined(a, -(b as Quantity).nanos, (b as Quantity).integral)),
    declare(`${NAME}.sub(int): ${NAME}`, (a, b) => combined(a, -BigInt(b as Int) * NANO, true)),
    declare(`${NAME}.isLessThan(${NAME}): bool`, (a, b) => order(a, b) < 0),
    declare(`${NAME}.isGreaterThan(${NAME}): bool`, (a, b) => order(a, b) > 0),
    declare(`${NAME}.compareTo(${NAME}): int`, order),
  ],
};
