/**
 * JSONPath as printed columns and subresource paths of resource types use it: `.spec.size`, `.items[*].name`,
 * `.c[?(@.type=="Ready")].status`.
 */

/** One step: from each value to the values below it. */
type Step = (value: unknown) => Iterable<unknown>;

/**
 * A compiled path: every value it leads to, in order. Throws `BadPath` where the value is not of the shape that the
 * path is for.
 */
export type JsonPath = (value: unknown) => unknown[];

/** A text that is no path, or a path that cannot be followed in a value. */
export class BadPath extends Error {}

const own = (value: unknown, name: string): unknown[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? [(value as { [key: string]: unknown })[name]]
    : [];

const below = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : typeof value === 'object' && value !== null ? Object.values(value) : [];

function* descend(value: unknown): Generator<unknown> {
  yield value;
  for (const inner of below(value)) yield* descend(inner);
}

/** The value as the list that a step is for. */
function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new BadPath('is not array or slice');
  return value;
}

const index = (length: number, at: number): number => (at < 0 ? at + length : at);

function element(list: unknown[], at: number): unknown {
  const i = index(list.length, at);
  if (i < 0 || i >= list.length) throw new BadPath('array index out of bounds');
  return list[i];
}

/** Part of a list, which must lie within it unless it is empty. */
function part(list: unknown[], from: string, to: string, by: string): unknown[] {
  const start = index(list.length, from === '' ? 0 : Number(from));
  const end = index(list.length, to === '' ? list.length : Number(to));
  if (start === end) return [];
  if (start < 0 || end > list.length || start > end) throw new BadPath('array index out of bounds');
  const step = by === '' ? 1 : Number(by);
  if (step < 1) throw new BadPath('step must be > 0');
  return list.slice(start, end).filter((_, i) => i % step === 0);
}

const SLICE = /^(-?\d*):(-?\d*)(?::(\d*))?$/;
const FILTER = /^\?\((.*)\)$/s;
const COMPARISON = /^(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/s;
/** Longest path: longer ones are no paths that somebody wrote. */
const LONGEST = 4096;
/** Values that a step goes on with: `..` after `..` would have them multiply. */
const MOST_VALUES = 1000;

function stepped(values: readonly unknown[], step: Step): unknown[] {
  const found: unknown[] = [];
  for (const value of values)
    for (const one of step(value)) {
      if (found.length >= MOST_VALUES) return found;
      found.push(one);
    }
  return found;
}

const unquoted = (text: string): string | undefined => /^(['"])([\s\S]*)\1$/.exec(text)?.[2]?.replace(/\\(.)/g, '$1');

function operand(text: string): JsonPath {
  const quoted = unquoted(text);
  if (quoted !== undefined) return () => [quoted];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  if (text.startsWith('@')) return compileSteps(text.slice(1));
  throw new BadPath(`unrecognized operand ${text}`);
}

/** Values that can be compared are of the same sort. */
function sortOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value;
  throw new BadPath('invalid type for comparison');
}

const EQUALITY = ['==', '!='];
const HOLDS: Readonly<Record<string, (a: never, b: never) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

function filter(text: string): Step {
  const compared = COMPARISON.exec(text);
  if (!compared) {
    const path = operand(text.trim());
    return value => listOf(value).filter(item => path(item).length > 0);
  }
  const [left, right] = [operand(compared[1]!.trim()), operand(compared[3]!.trim())];
  const operator = compared[2]!;
  return value => listOf(value).filter(item => compare(left(item), operator, right(item)));
}

/** Whether one value compares so with another; nothing never does. */
function compare(left: readonly unknown[], operator: string, right: readonly unknown[]): boolean {
  if (left.length > 1 || right.length > 1) throw new BadPath('can only compare one element at a time');
  if (left.length === 0 || right.length === 0) return false;
  const sort = sortOf(left[0]);
  if (sort !== sortOf(right[0])) throw new BadPath('incompatible types for comparison');
  if (sort === 'boolean' && !EQUALITY.includes(operator)) throw new BadPath('invalid type for comparison');
  return HOLDS[operator]!(left[0] as never, right[0] as never);
}

/** What stands between brackets. */
function bracket(text: string): Step {
  const inner = text.trim();
  if (inner === '*') return below;
  const quoted = unquoted(inner);
  // The path language of the clients this follows escapes dots also between quotes.
  if (quoted !== undefined) return value => own(value, quoted);
  const asked = FILTER.exec(inner);
  if (asked) return filter(asked[1]!);
  const range = SLICE.exec(inner);
  if (range) return value => (value === null ? [] : part(listOf(value), range[1]!, range[2]!, range[3] ?? ''));
  if (/^-?\d+$/.test(inner)) return value => (value === null ? [] : [element(listOf(value), Number(inner))]);
  if (inner.includes(',')) {
    const parts = inner.split(',').map(bracket);
    return value => parts.flatMap(part => [...part(value)]);
  }
  throw new BadPath(`invalid array index ${inner}`);
}

/** End of a bracket that begins at `start`; brackets and quotes inside are skipped. */
function bracketEnd(text: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (quote) {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '[') depth++;
    else if (char === ']' && --depth === 0) return at;
  }
  throw new BadPath('unterminated array');
}

const NAME = /(?:\\.|[^.[\]\\\s])+/y;

function compileSteps(text: string): JsonPath {
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '[') {
      const end = bracketEnd(text, at);
      steps.push(bracket(text.slice(at + 1, end)));
      at = end + 1;
      continue;
    }
    if (text[at] !== '.') throw new BadPath(`unexpected character at ${at}`);
    if (text[at + 1] === '.') {
      steps.push(descend);
      at++;
    }
    at++;
    if (text[at] === '[' || at >= text.length) continue;
    NAME.lastIndex = at;
    const found = NAME.exec(text)?.[0];
    if (found === undefined) throw new BadPath(`unexpected character at ${at}`);
    at += found.length;
    const name = found.replace(/\\(.)/g, '$1');
    steps.push(name === '*' ? below : value => own(value, name));
  }
  return value => steps.reduce<unknown[]>(stepped, [value]);
}

/** Compiles a path that begins with a dot. Throws `BadPath`. */
export function compilePath(text: string): JsonPath {
  if (!text.startsWith('.') || text.length > LONGEST) throw new BadPath('must be a simple json path starting with .');
  return compileSteps(text);
}

/** The names of a path that has nothing but names, `.spec.size`: undefined for any other. */
export function namesIn(text: string): string[] | undefined {
  if (!/^(?:\.(?:\\.|[^.[\]\\\s])+)+$/.test(text)) return undefined;
  return [...text.matchAll(/\.((?:\\.|[^.[\]\\\s])+)/g)].map(([, name]) => name!.replace(/\\(.)/g, '$1'));
}
