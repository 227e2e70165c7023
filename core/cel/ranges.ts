/** Ranges of sizes and costs, and the estimated cost of a call by its function: upstream's tables. */
import { type CostRange, UNBOUNDED } from './cost.js';

/** Traversing a character, and one of a pattern. */
export const TEXT_FACTOR = 0.1;
export const PATTERN_FACTOR = 0.25;

const capped = (n: number): number => Math.min(n, UNBOUNDED);
const times0 = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : capped(a * b));

export const flat = (n: number): CostRange => ({ min: n, max: n });
export const UNKNOWN: CostRange = { min: 0, max: UNBOUNDED };
export const plus = (a: CostRange, b: CostRange): CostRange => ({
  min: capped(a.min + b.min),
  max: capped(a.max + b.max),
});
export const times = (a: CostRange, b: CostRange): CostRange => ({
  min: times0(a.min, b.min),
  max: times0(a.max, b.max),
});
export const union = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
/** The cost of a size at so much a unit, rounded up. */
export const scaled = (a: CostRange, factor: number): CostRange => ({
  min: capped(Math.ceil(a.min * factor)),
  max: capped(Math.ceil(a.max * factor)),
});
export const sum = (ranges: readonly CostRange[]): CostRange => ranges.reduce(plus, flat(0));

/** What an estimate may ask of a call: sizes of its parts, the target first where there is one. */
export interface CallShape {
  readonly sizes: readonly CostRange[];
  readonly member: boolean;
  /** Of a target that is a list: the size of its items where those are text, `undefined` where they are not. */
  readonly list?: { readonly text?: CostRange; readonly items: CostRange };
  /** A constant among the arguments proper, by index. */
  constant(index: number): unknown;
}

/** The cost of a call itself, and the size of what it gives where that follows. */
export interface CallEstimate {
  readonly cost: CostRange;
  readonly size?: CostRange;
}

const ONE: CallEstimate = { cost: flat(1) };
type Rule = (call: CallShape) => CallEstimate | undefined;

const text = (size: CostRange, factor = TEXT_FACTOR): CostRange => scaled(size, factor);
const at = (call: CallShape, i: number): CostRange => call.sizes[i] ?? UNKNOWN;

const overItems: Rule = call => {
  if (!call.member) return undefined;
  if (!call.list) return { cost: text(at(call, 0)) };
  return { cost: times(at(call, 0), plus(flat(1), call.list.text ? text(call.list.text) : flat(0))) };
};
const sameSize: Rule = call => (call.member ? { cost: text(at(call, 0)), size: at(call, 0) } : undefined);
const pattern = (call: CallShape): CostRange =>
  times(text(plus(at(call, 0), flat(1))), text(at(call, 1), PATTERN_FACTOR));
const found: Rule = call => (call.member ? { cost: pattern(call), size: { min: 0, max: at(call, 0).max } } : undefined);

const split: Rule = call => {
  if (!call.member) return undefined;
  const limit = call.constant(1);
  // A negative limit is none: upstream reads it as the largest integer.
  const max = typeof limit === 'number' ? (limit < 0 ? UNBOUNDED : limit) : at(call, 0).max;
  return { cost: text(at(call, 0), 2 * TEXT_FACTOR), size: { min: 0, max } };
};

const join: Rule = call => {
  if (!call.member) return undefined;
  const list = at(call, 0);
  let size = call.list ? times(list, call.list.items) : flat(0);
  if (call.sizes.length > 1) {
    const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
    size = plus(size, times(at(call, 1), gaps));
  }
  return { cost: text(size), size };
};

const replace: Rule = call => {
  if (!call.member) return undefined;
  const [from, old, next] = [at(call, 0), at(call, 1), at(call, 2)];
  const size = { min: shortest(from.min, old.max, next.min), max: longest(from.max, old.min, next.max) };
  return { cost: text(from, 2 * TEXT_FACTOR), size };
};
function longest(from: number, old: number, next: number): number {
  if (old === 0) return capped(times0(from < UNBOUNDED ? from + 1 : from, next) + from);
  return next <= old ? from : times0(Math.ceil(from / old), next);
}
function shortest(from: number, old: number, next: number): number {
  if (old === 0) return capped(times0(from < UNBOUNDED ? from + 1 : from, next) + from);
  return old <= next ? from : times0(Math.ceil(from / old), next);
}

/** Octets of an address, of either family. */
const ADDRESS: CostRange = { min: 4, max: 16 };
const ADDRESSES = text(plus(ADDRESS, ADDRESS));
const containsAddress: Rule = call => ({ cost: call.sizes.length > 1 ? plus(ADDRESSES, parsed(call)) : ADDRESSES });
const containsBlock: Rule = call => ({ cost: plus(plus(ADDRESSES, plus(text(ADDRESS), flat(1))), parsed(call)) });
/** Text that must be read first; what is no text is taken as read. */
const parsed = (call: CallShape): CostRange => (call.constant(-1) === 'text' ? text(at(call, 1)) : flat(0));

/** The largest pattern of a named format. */
const FORMAT_PATTERN = 128;
const sets =
  (factor: number): Rule =>
  call => ({ cost: plus(scaled(times(at(call, 0), at(call, 1)), factor), flat(1)) });
const converted =
  (factor: number): Rule =>
  call => ({
    cost: text(at(call, 0)),
    size: { min: Math.floor(at(call, 0).min / (factor < 1 ? 4 : 1)), max: at(call, 0).max * Math.max(1, factor) },
  });
const pairs: Rule = call => ({ cost: times(at(call, 0), at(call, 0)), size: at(call, 0) });
const sorting: Rule = call => {
  const { min, max } = at(call, 0);
  return { cost: { min, max: capped(max * Math.max(1, Math.log2(max + 1))) }, size: at(call, 0) };
};

/** Upstream's estimates; a function that is not here, or whose rule gives nothing, costs one. */
const RULES = new Map<string, Rule>([
  ['check', () => ({ cost: flat(350_000) })],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map(fn => [fn, overItems] as const),
  ['url', call => ({ cost: text(at(call, 0)) })],
  ...['lowerAscii', 'upperAscii', 'substring', 'trim', 'reverse'].map(fn => [fn, sameSize] as const),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', found],
  ['findAll', found],
  ['matches', call => (call.member ? { cost: pattern(call) } : undefined)],
  ['contains', call => (call.member ? { cost: times(text(at(call, 0)), text(at(call, 1))) } : undefined)],
  ['startsWith', call => ({ cost: text(at(call, 1)) })],
  ['endsWith', call => ({ cost: text(at(call, 1)) })],
  ['format', call => ({ cost: text(at(call, 0)) })],
  [
    'strings.quote',
    call => ({ cost: text(at(call, 0)), size: { min: at(call, 0).min + 2, max: at(call, 0).max * 2 + 2 } }),
  ],
  ['bytes(string)', converted(4)],
  ['string(bytes)', converted(0.25)],
  ['containsIP', containsAddress],
  ['containsCIDR', containsBlock],
  ['validate', call => ({ cost: scaled(text(at(call, 1)), FORMAT_PATTERN * PATTERN_FACTOR) })],
  ['sets.contains', sets(1)],
  ['sets.intersects', sets(1)],
  ['sets.equivalent', sets(2)],
  ['distinct', pairs],
  ['sort', sorting],
  ['@sortByAssociatedKeys', sorting],
]);

/** The estimate of a call. `overload` tells conversions apart by their argument: `string(bytes)`. */
export const estimateCall = (fn: string, overload: string, call: CallShape): CallEstimate =>
  (RULES.get(overload) ?? RULES.get(fn))?.(call) ?? ONE;
