/** Ranges of sizes and costs, and the estimated cost of a call by its function: upstream's tables. */
import { type CostRange, UNBOUNDED } from './cost.js';

/** The cost of traversing one character. */
export const TEXT_FACTOR = 0.1;
/** The cost of traversing one character of a pattern. */
const PATTERN_FACTOR = 0.25;

const cap = (n: number): number => Math.min(n, UNBOUNDED);
const multiply = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : cap(a * b));

/** A range of one value. */
export const exactly = (n: number): CostRange => ({ min: n, max: n });
/** The range of a size that nothing bounds. */
export const UNKNOWN_RANGE: CostRange = { min: 0, max: UNBOUNDED };
/** The sum of two ranges. */
export const plus = (a: CostRange, b: CostRange): CostRange => ({
  min: cap(a.min + b.min),
  max: cap(a.max + b.max),
});
/** The product of two ranges. */
export const times = (a: CostRange, b: CostRange): CostRange => ({
  min: multiply(a.min, b.min),
  max: multiply(a.max, b.max),
});
/** The smallest range that contains both. */
export const union = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
/** A range times a factor, rounded up. */
export const scale = (a: CostRange, factor: number): CostRange => ({
  min: cap(Math.ceil(a.min * factor)),
  max: cap(Math.ceil(a.max * factor)),
});
/** The sum of any number of ranges. */
export const sum = (ranges: readonly CostRange[]): CostRange => ranges.reduce(plus, exactly(0));

/** The properties of a call that estimates depend on. */
export interface CallShape {
  /** Sizes of target (if any) and arguments. */
  readonly sizes: readonly CostRange[];
  readonly member: boolean;
  /** Set if the target is a list: the sizes of its items, and in `text` again if they are strings or bytes. */
  readonly list?: { readonly text?: CostRange; readonly items: CostRange };
  /** The value of the argument at an index, if it is a constant. Index -1 gives 'text' if the argument is a string. */
  constant(index: number): unknown;
}

/** The cost of a call without its arguments, and the size of its result if known. */
export interface CallEstimate {
  readonly cost: CostRange;
  readonly size?: CostRange;
}

const ONE: CallEstimate = { cost: exactly(1) };
type Rule = (call: CallShape) => CallEstimate | undefined;

const textCost = (size: CostRange, factor = TEXT_FACTOR): CostRange => scale(size, factor);
const sizeAt = (call: CallShape, i: number): CostRange => call.sizes[i] ?? UNKNOWN_RANGE;

const itemsRule: Rule = call => {
  if (!call.member) return undefined;
  if (!call.list) return { cost: textCost(sizeAt(call, 0)) };
  return { cost: times(sizeAt(call, 0), plus(exactly(1), call.list.text ? textCost(call.list.text) : exactly(0))) };
};
const sameSizeRule: Rule = call =>
  call.member ? { cost: textCost(sizeAt(call, 0)), size: sizeAt(call, 0) } : undefined;
const patternCost = (call: CallShape): CostRange =>
  times(textCost(plus(sizeAt(call, 0), exactly(1))), textCost(sizeAt(call, 1), PATTERN_FACTOR));
const findRule: Rule = call =>
  call.member ? { cost: patternCost(call), size: { min: 0, max: sizeAt(call, 0).max } } : undefined;

const splitRule: Rule = call => {
  if (!call.member) return undefined;
  const limit = call.constant(1);
  // Upstream's `split` takes a negative limit as none.
  const max = typeof limit === 'number' ? (limit < 0 ? UNBOUNDED : limit) : sizeAt(call, 0).max;
  return { cost: textCost(sizeAt(call, 0), 2 * TEXT_FACTOR), size: { min: 0, max } };
};

const joinRule: Rule = call => {
  if (!call.member) return undefined;
  const list = sizeAt(call, 0);
  let size = call.list ? times(list, call.list.items) : exactly(0);
  if (call.sizes.length > 1) {
    const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
    size = plus(size, times(sizeAt(call, 1), gaps));
  }
  return { cost: textCost(size), size };
};

const replaceRule: Rule = call => {
  if (!call.member) return undefined;
  const [from, old, next] = [sizeAt(call, 0), sizeAt(call, 1), sizeAt(call, 2)];
  const size = { min: minReplacedSize(from.min, old.max, next.min), max: maxReplacedSize(from.max, old.min, next.max) };
  return { cost: textCost(from, 2 * TEXT_FACTOR), size };
};
function maxReplacedSize(from: number, old: number, next: number): number {
  if (old === 0) return cap(multiply(from < UNBOUNDED ? from + 1 : from, next) + from);
  return next <= old ? from : multiply(Math.ceil(from / old), next);
}
function minReplacedSize(from: number, old: number, next: number): number {
  if (old === 0) return cap(multiply(from < UNBOUNDED ? from + 1 : from, next) + from);
  return old <= next ? from : multiply(Math.ceil(from / old), next);
}

/** Octets of an address, of either family. */
const ADDRESS: CostRange = { min: 4, max: 16 };
const ADDRESSES = textCost(plus(ADDRESS, ADDRESS));
const containsAddressRule: Rule = call => ({
  cost: call.sizes.length > 1 ? plus(ADDRESSES, parseCost(call)) : ADDRESSES,
});
const containsBlockRule: Rule = call => ({
  cost: plus(plus(ADDRESSES, plus(textCost(ADDRESS), exactly(1))), parseCost(call)),
});
/** The cost of parsing an argument, if it is text. */
const parseCost = (call: CallShape): CostRange =>
  call.constant(-1) === 'text' ? textCost(sizeAt(call, 1)) : exactly(0);

/** Parsing a text, unless the function is a member: `ip` is also one of blocks. */
const parseRule: Rule = call => (call.member ? undefined : { cost: textCost(sizeAt(call, 0)) });

/** The largest pattern of a named format. */
const FORMAT_PATTERN = 128;
const setRule =
  (factor: number): Rule =>
  call => ({ cost: plus(scale(times(sizeAt(call, 0), sizeAt(call, 1)), factor), exactly(1)) });
const conversionRule =
  (factor: number): Rule =>
  call => ({
    cost: textCost(sizeAt(call, 0)),
    size: {
      min: Math.floor(sizeAt(call, 0).min / (factor < 1 ? 4 : 1)),
      max: sizeAt(call, 0).max * Math.max(1, factor),
    },
  });
const pairwiseRule: Rule = call => ({ cost: times(sizeAt(call, 0), sizeAt(call, 0)), size: sizeAt(call, 0) });
const sortRule: Rule = call => {
  const { min, max } = sizeAt(call, 0);
  return { cost: { min, max: cap(max * Math.max(1, Math.log2(max + 1))) }, size: sizeAt(call, 0) };
};

/** Upstream's estimates. A function without a rule, or whose rule returns `undefined`, costs one. */
const RULES = new Map<string, Rule>([
  ['check', () => ({ cost: exactly(350_000) })],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map(fn => [fn, itemsRule] as const),
  // The size of a URL, by which two are compared, is that of its text.
  ['url', call => ({ cost: textCost(sizeAt(call, 0)), size: sizeAt(call, 0) })],
  ...['quantity', 'isQuantity', 'ip', 'isIP', 'cidr', 'isCIDR'].map(fn => [fn, parseRule] as const),
  ['ip.isCanonical', call => ({ cost: textCost(sizeAt(call, 0), 2 * TEXT_FACTOR) })],
  ...['lowerAscii', 'upperAscii', 'substring', 'trim', 'reverse'].map(fn => [fn, sameSizeRule] as const),
  ['replace', replaceRule],
  ['split', splitRule],
  ['join', joinRule],
  ['find', findRule],
  ['findAll', findRule],
  ['matches', call => (call.member ? { cost: patternCost(call) } : undefined)],
  [
    'contains',
    call => (call.member ? { cost: times(textCost(sizeAt(call, 0)), textCost(sizeAt(call, 1))) } : undefined),
  ],
  ['startsWith', call => ({ cost: textCost(sizeAt(call, 1)) })],
  ['endsWith', call => ({ cost: textCost(sizeAt(call, 1)) })],
  ['format', call => ({ cost: textCost(sizeAt(call, 0)) })],
  [
    'strings.quote',
    call => ({
      cost: textCost(sizeAt(call, 0)),
      size: { min: sizeAt(call, 0).min + 2, max: sizeAt(call, 0).max * 2 + 2 },
    }),
  ],
  ['bytes(string)', conversionRule(4)],
  ['string(bytes)', conversionRule(0.25)],
  ['containsIP', containsAddressRule],
  ['containsCIDR', containsBlockRule],
  ['validate', call => ({ cost: scale(textCost(sizeAt(call, 1)), FORMAT_PATTERN * PATTERN_FACTOR) })],
  ['sets.contains', setRule(1)],
  ['sets.intersects', setRule(1)],
  ['sets.equivalent', setRule(2)],
  ['distinct', pairwiseRule],
  ['sort', sortRule],
  ['@sortByAssociatedKeys', sortRule],
]);

/** Estimates a call. `overload` distinguishes conversions by their argument: `string(bytes)`. */
export const estimateCall = (fn: string, overload: string, call: CallShape): CallEstimate =>
  (RULES.get(overload) ?? RULES.get(fn))?.(call) ?? ONE;
