/** The format of a quantity: `1k`, `1Ki` or `1e3`. */
export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

/** A quantity: an exact amount in billionths, the smallest unit, and its format. */
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

/** No digit can match in two ways, so matching takes linear time. */
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eEinumkKMGTP]+)([-+]?\d*)|([-+]\d*))?$/;
/** The largest amount with a binary suffix. Upstream reduces larger ones to it. */
const MAX_BINARY = (1n << 63n) - 1n;
/** The longest text that is parsed, which bounds the cost of the arithmetic. */
const MAX_LENGTH = 256;
/** The largest decimal exponent, which bounds the cost of the arithmetic. */
const MAX_EXPONENT = 200;

const FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_ERROR = "unable to parse quantity's suffix";

interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function parseScale(letters: string, digits: string): Scale | undefined {
  if ((letters === 'e' || letters === 'E') && /\d/.test(digits)) {
    const exponent = Number(digits);
    return Math.abs(exponent) > MAX_EXPONENT ? undefined : { base: 10, exponent, format: 'exponent' };
  }
  if (digits !== '') return undefined;
  const decimal = DECIMAL.get(letters);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'decimal' };
  const binary = BINARY.get(letters);
  return binary === undefined ? undefined : { base: 2, exponent: binary, format: 'binary' };
}

/** Converts to billionths, rounded away from zero. */
function toNano(digits: bigint, fraction: number, scale: Scale): bigint {
  const power = 9 - fraction + (scale.base === 10 ? scale.exponent : 0);
  const scaled = scale.base === 2 ? digits << BigInt(scale.exponent) : digits;
  if (power >= 0) return scaled * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (scaled + divisor - 1n) / divisor;
}

/** Parses a quantity. Returns upstream's error message as text. */
export function parseQuantity(text: string): Quantity | string {
  if (text.length > MAX_LENGTH) return FORMAT_ERROR;
  const match = FORM.exec(text);
  if (!match) return FORMAT_ERROR;
  const [, sign, whole = '', fraction = '', letters = '', power = '', bare = ''] = match;
  if (whole === '' && fraction === '') return FORMAT_ERROR;
  const scale = parseScale(letters, power || bare);
  if (!scale) return SUFFIX_ERROR;
  let nano = toNano(BigInt(whole + fraction), fraction.length, scale);
  if (scale.format === 'binary' && nano > MAX_BINARY * NANO) nano = MAX_BINARY * NANO;
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

/** Formats a quantity canonically: without fraction, with the largest suffix that permits it. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return '0';
  if (format === 'binary' && nano % NANO === 0n) {
    const units = nano / NANO;
    if (units <= -1024n || units >= 1024n) return formatBinary(units);
  }
  const maxExponent = format === 'exponent' ? MAX_EXPONENT : 18;
  let exponent = -9;
  let rest = nano;
  while (exponent + 3 <= maxExponent && rest % 1000n === 0n) {
    rest /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
  return `${rest}${DECIMAL_SUFFIX.get(exponent)}`;
}

/** Compares two quantities: negative, zero or positive. */
export const compareQuantities = (a: Quantity, b: Quantity): number => (a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0);

/** The sum of two quantities. It has the format of the first one, unless that is zero, as in upstream. */
export const addQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano + b.nano,
  format: a.nano === 0n ? b.format : a.format,
});

const divideRoundingUp = (nano: bigint, step: bigint): bigint =>
  nano >= 0n ? (nano + step - 1n) / step : -((-nano + step - 1n) / step);

const BELOW_MILLI = /[nu]$|e-(?!3$)/;

/** Rounds a canonical quantity up to thousandths, the smallest unit of amounts of resources. */
export const wholeMilli = (canonical: string): string => {
  if (!BELOW_MILLI.test(canonical)) return canonical;
  const quantity = quantityOf(canonical);
  return formatQuantity({ ...quantity, nano: divideRoundingUp(quantity.nano, 1_000_000n) * 1_000_000n });
};

/** Whether a quantity is an integer. */
export const isInteger = (quantity: Quantity): boolean => quantity.nano % NANO === 0n;
/** The quantity zero. */
export const ZERO_QUANTITY: Quantity = { nano: 0n, format: 'decimal' };

/** Cached quantities and canonical texts: the objects of a cluster have few different ones. */
const parsedTexts = new Map<string, Quantity>();
const canonical = new Map<string, string>();
/**
 * Clients determine the texts, so their number is bounded. At the bound, all are dropped: tracking which were used last
 * would cost more.
 */
const MAX_CACHED = 4096;

/** Parses a validated quantity. Malformed ones are treated as zero. */
export function quantityOf(value: unknown): Quantity {
  const text = String(value ?? '0');
  let quantity = parsedTexts.get(text);
  if (!quantity) {
    const parsed = parseQuantity(text.trim());
    quantity = typeof parsed === 'string' ? ZERO_QUANTITY : parsed;
    if (parsedTexts.size >= MAX_CACHED) parsedTexts.clear();
    if (text.length <= MAX_LENGTH) parsedTexts.set(text, quantity);
  }
  return quantity;
}

/** The canonical text of a quantity. Calls `fail`, which throws, if it is malformed. */
export function canonicalQuantity(text: string, fail: (why: string) => never): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const parsed = parseQuantity(text.trim());
  if (typeof parsed === 'string') return fail(parsed);
  const shown = formatQuantity(parsed);
  if (canonical.size >= MAX_CACHED) canonical.clear();
  canonical.set(text, shown);
  return shown;
}
