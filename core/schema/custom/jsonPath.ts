/** JSONPath for printer columns and subresources: `.spec.size`, `.items[*].name`, `.c[?(@.type=="Ready")].status`. */
import { isInteger, isNumber, readJson } from '../../model/text/jsonText.js';

/** A step of a path: maps a value to nested values. */
type Step = (value: unknown) => Iterable<unknown>;

/** A compiled path: returns all matching values in order. Throws `InvalidPath` if a value has an unsuitable type. */
export type JsonPath = (value: unknown) => unknown[];

/** Thrown for a malformed path, and for a path that does not apply to a value. */
export class InvalidPath extends Error {}

const ownMember = (value: unknown, name: string): unknown[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? [(value as { [key: string]: unknown })[name]]
    : [];

const children = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : typeof value === 'object' && value !== null ? Object.values(value) : [];

function* descendants(value: unknown): Generator<unknown> {
  yield value;
  for (const inner of children(value)) yield* descendants(inner);
}

/** Returns the value if it is a list. Throws `InvalidPath` otherwise. */
function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new InvalidPath('is not array or slice');
  return value;
}

const normalizeIndex = (length: number, at: number): number => (at < 0 ? at + length : at);

function element(list: unknown[], at: number): unknown {
  const i = normalizeIndex(list.length, at);
  if (i < 0 || i >= list.length) throw new InvalidPath('array index out of bounds');
  return list[i];
}

/** A slice of a list. Throws `InvalidPath` if it exceeds the list, unless it is empty. */
function slice(list: unknown[], from: string, to: string, by: string): unknown[] {
  const start = normalizeIndex(list.length, from === '' ? 0 : Number(from));
  const end = normalizeIndex(list.length, to === '' ? list.length : Number(to));
  if (start === end) return [];
  if (start < 0 || end > list.length || start > end) throw new InvalidPath('array index out of bounds');
  const step = by === '' ? 1 : Number(by);
  if (step < 1) throw new InvalidPath('step must be > 0');
  return list.slice(start, end).filter((_, i) => i % step === 0);
}

const SLICE = /^(-?\d*):(-?\d*)(?::(\d*))?$/;
const FILTER = /^\?\((.*)\)$/s;
const OPERATOR = /==|!=|<=|>=|<|>/g;
/** The length of the longest path that is compiled. */
const MAX_LENGTH = 4096;
/** The largest number of values after a step, because repeated `..` would multiply them. */
const MAX_VALUES = 1000;

function applyStep(values: readonly unknown[], step: Step): unknown[] {
  const found: unknown[] = [];
  for (const value of values)
    for (const one of step(value)) {
      if (found.length >= MAX_VALUES) return found;
      found.push(one);
    }
  return found;
}

function unquote(text: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$|^'((?:[^'\\]|\\.)*)'$/s.exec(text);
  return quoted ? (quoted[1] ?? quoted[2]!).replace(/\\(.)/gs, '$1') : undefined;
}

function compileOperand(text: string): JsonPath {
  const quoted = unquote(text);
  if (quoted !== undefined) return () => [quoted];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [readJson(text)];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  if (text.startsWith('@')) return compileSteps(text.slice(1));
  throw new InvalidPath(`unrecognized operand ${text}`);
}

/** The type of a value for comparisons: only values of the same type can be compared. */
function comparableType(value: unknown): string {
  if (isNumber(value)) return isInteger(value) ? 'int' : 'float';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value;
  throw new InvalidPath('invalid type for comparison');
}

const EQUALITY = ['==', '!='];
const COMPARATORS: Readonly<Record<string, (a: never, b: never) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

function compileFilter(text: string): Step {
  OPERATOR.lastIndex = 1;
  const found = OPERATOR.exec(text);
  const rest = found ? text.slice(OPERATOR.lastIndex) : '';
  if (!found || rest === '') {
    const path = compileOperand(text.trim());
    return value => asList(value).filter(item => path(item).length > 0);
  }
  const [left, right] = [compileOperand(text.slice(0, found.index).trim()), compileOperand(rest.trim())];
  const [operator] = found;
  return value => asList(value).filter(item => compare(left(item), operator, right(item)));
}

/** Compares two values. The result is false if one is missing. */
function compare(left: readonly unknown[], operator: string, right: readonly unknown[]): boolean {
  if (left.length > 1 || right.length > 1) throw new InvalidPath('can only compare one element at a time');
  if (left.length === 0 || right.length === 0) return false;
  const sort = comparableType(left[0]);
  if (sort !== comparableType(right[0])) throw new InvalidPath('incompatible types for comparison');
  if (sort === 'boolean' && !EQUALITY.includes(operator)) throw new InvalidPath('invalid type for comparison');
  return COMPARATORS[operator]!(left[0] as never, right[0] as never);
}

/** The values of several steps, one by one, because their total number is not limited. */
function* union(steps: readonly Step[], value: unknown): Generator<unknown> {
  for (const step of steps) yield* step(value);
}

/** Compiles the text between brackets. Empty brackets mean the first item. */
function compileBracket(text: string): Step {
  if (text === '*') return children;
  const condition = FILTER.exec(text);
  if (condition) return compileFilter(condition[1]!);
  if (text.includes(',')) {
    const parts = text.split(',').map(part => compileBracket(part.trim()));
    return value => union(parts, value);
  }
  const name = /^'([^']*)'$/.exec(text)?.[1];
  // As in client-go, a dot in a quoted name separates names unless it is escaped.
  if (name !== undefined) return compileSteps(`.${name}`);
  const range = SLICE.exec(text);
  if (range) return value => (value === null ? [] : slice(asList(value), range[1]!, range[2]!, range[3] ?? ''));
  if (/^-?\d*$/.test(text)) return value => (value === null ? [] : [element(asList(value), Number(text))]);
  throw new InvalidPath(`invalid array index ${text}`);
}

/** The end of the bracket at `start`. Skips nested brackets and quoted text. */
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
  throw new InvalidPath('unterminated array');
}

const NAME = /(?:\\.|[^.[\]{\\\s])+/y;

function compileSteps(text: string): JsonPath {
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '[') {
      const end = bracketEnd(text, at);
      steps.push(compileBracket(text.slice(at + 1, end)));
      at = end + 1;
      continue;
    }
    if (text[at] !== '.') throw new InvalidPath(`unexpected character at ${at}`);
    if (text[at + 1] === '.') {
      steps.push(descendants);
      at++;
    }
    at++;
    // A dot before a bracket, or at the end, is allowed and changes nothing.
    if (text[at] === '[' || at >= text.length) continue;
    NAME.lastIndex = at;
    const found = NAME.exec(text)?.[0];
    if (found === undefined) throw new InvalidPath(`unexpected character at ${at}`);
    at += found.length;
    const name = found.replace(/\\(.)/g, '$1');
    steps.push(name === '*' ? children : value => ownMember(value, name));
  }
  return value => steps.reduce<unknown[]>(applyStep, [value]);
}

/** Compiles a path that begins with a dot. Throws `InvalidPath`. */
export function compilePath(text: string): JsonPath {
  if (!text.startsWith('.') || text.length > MAX_LENGTH)
    throw new InvalidPath('must be a simple json path starting with .');
  return compileSteps(text);
}

/** The names of a path that consists of names only (`.spec.size`); undefined for other paths. */
export function simplePathNames(text: string): string[] | undefined {
  if (!/^(?:\.(?:\\.|[^.[\]\\\s])+)+$/.test(text)) return undefined;
  return [...text.matchAll(/\.((?:\\.|[^.[\]\\\s])+)/g)].map(([, name]) => name!.replace(/\\(.)/g, '$1'));
}
