/** How a quantity was written, and is written again: `1k`, `1Ki` or `1e3`. */
export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

/** An exact amount in billionths, the finest step there is, and the form it is shown in. */
export interface Quantity {
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;
const DECIMAL = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const BINARY = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);
const DECIMAL_SUFFIX = new Map([...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIX = new Map([...BINARY].map(([suffix, exponent]) => [exponent, suffix]));

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*)([-+]?\d*)$/;
/** Largest binary amount; more is cut to it, as upstream does. */
const MOST = (1n << 63n) - 1n;
/**
 * Longest text and largest decimal exponent that are read: anything beyond is no amount but an attack on the
 * arithmetic.
 */
const LONGEST = 256;
const EXPONENT = 200;

const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX = "unable to parse quantity's suffix";

interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function scaleOf(letters: string, digits: string): Scale | undefined {
  if ((letters === 'e' || letters === 'E') && /\d/.test(digits)) {
    const exponent = Number(digits);
    return Math.abs(exponent) > EXPONENT ? undefined : { base: 10, exponent, format: 'exponent' };
  }
  if (digits !== '') return undefined;
  const decimal = DECIMAL.get(letters);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'decimal' };
  const binary = BINARY.get(letters);
  return binary === undefined ? undefined : { base: 2, exponent: binary, format: 'binary' };
}

/** Billionths, rounded away from zero: whoever asks for something gets something. */
function toNano(digits: bigint, fraction: number, scale: Scale): bigint {
  const power = 9 - fraction + (scale.base === 10 ? scale.exponent : 0);
  const scaled = scale.base === 2 ? digits << BigInt(scale.exponent) : digits;
  if (power >= 0) return scaled * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (scaled + divisor - 1n) / divisor;
}

/** Reads a quantity (spec, "Quantity"); a string result is the complaint, in upstream's words. */
export function parseQuantity(text: string): Quantity | string {
  if (text.length > LONGEST) return WRONG_FORM;
  const match = FORM.exec(text);
  if (!match) return WRONG_FORM;
  const [, sign, whole = '', fraction = '', letters = '', digits = ''] = match;
  if (whole === '' && fraction === '') return WRONG_FORM;
  const scale = scaleOf(letters, digits);
  if (!scale) return WRONG_SUFFIX;
  let nano = toNano(BigInt(whole + fraction), fraction.length, scale);
  if (scale.format === 'binary' && nano > MOST * NANO) nano = MOST * NANO;
  const format = scale.format === 'binary' && nano > 0n && nano < NANO ? 'decimal' : scale.format;
  return { nano: sign === '-' ? -nano : nano, format };
}

function formatBinary(units: bigint): string {
  let exponent = 0;
  let rest = units;
  while (exponent < 60 && rest % 1024n === 0n) {
    rest /= 1024n;
    exponent += 10;
  }
  return `${rest}${BINARY_SUFFIX.get(exponent) ?? ''}`;
}

/** The canonical text: no fraction, the largest suffix that allows that. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return '0';
  if (format === 'binary' && nano % NANO === 0n) {
    const units = nano / NANO;
    if (units <= -1024n || units >= 1024n) return formatBinary(units);
  }
  const most = format === 'exponent' ? EXPONENT : 18;
  let exponent = -9;
  let rest = nano;
  while (exponent + 3 <= most && rest % 1000n === 0n) {
    rest /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
  return `${rest}${DECIMAL_SUFFIX.get(exponent)}`;
}

/** Negative, zero or positive as `a` is less than, equal to or more than `b`. */
export const compareQuantities = (a: Quantity, b: Quantity): number => (a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0);

const roundedUp = (nano: bigint, step: bigint): bigint =>
  nano >= 0n ? (nano + step - 1n) / step : -((-nano + step - 1n) / step);

const BELOW_MILLI = /[nu]$|e-(?!3$)/;

/** A canonical text, rounded up to whole thousandths: amounts of resources are not finer. */
export const wholeMilli = (canonical: string): string => {
  if (!BELOW_MILLI.test(canonical)) return canonical;
  const quantity = quantityOf(canonical);
  return formatQuantity({ ...quantity, nano: roundedUp(quantity.nano, 1_000_000n) * 1_000_000n });
};

/** True if it is a whole number of units. */
export const isInteger = (quantity: Quantity): boolean => quantity.nano % NANO === 0n;
/** Nothing, shown as a plain number. */
export const ZERO_QUANTITY: Quantity = { nano: 0n, format: 'decimal' };

/** Reads a quantity that was already checked; a malformed one counts as zero. */
export function quantityOf(value: unknown): Quantity {
  const parsed = parseQuantity(String(value ?? '0').trim());
  return typeof parsed === 'string' ? ZERO_QUANTITY : parsed;
}

/** Canonical texts of quantities seen lately: a cluster's objects repeat a few. */
const canonical = new Map<string, string>();
const REMEMBERED = 4096;

/** The canonical text of a written quantity; a malformed one goes to `complain`, which throws. */
export function canonicalQuantity(text: string, complain: (why: string) => never): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const parsed = parseQuantity(text.trim());
  if (typeof parsed === 'string') return complain(parsed);
  const shown = formatQuantity(parsed);
  if (canonical.size >= REMEMBERED) canonical.clear();
  canonical.set(text, shown);
  return shown;
}
