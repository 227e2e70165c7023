/** JSONPath as printed columns and subresource paths of resource types use it: `.spec.size`, `.items[*].name`, `.c[?(@.type=="Ready")].status`. */

/** One step: from each value to the values below it. */
type Step = (value: unknown) => Iterable<unknown>;

/** A compiled path: every value it leads to, in order. */
export type JsonPath = (value: unknown) => unknown[];

/** A text that is no path. */
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

const index = (length: number, at: number): number => (at < 0 ? at + length : at);

function slice(list: unknown[], from: string, to: string, by: string): unknown[] {
  const start = Math.max(0, index(list.length, from === '' ? 0 : Number(from)));
  const end = Math.min(list.length, index(list.length, to === '' ? list.length : Number(to)));
  const step = by === '' ? 1 : Number(by);
  if (step < 1) return [];
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
    return value => below(value).filter(item => path(item).length > 0);
  }
  const [left, right] = [operand(compared[1]!.trim()), operand(compared[3]!.trim())];
  const holds = HOLDS[compared[2]!]!;
  return value =>
    below(value).filter(item => {
      const [a, b] = [left(item)[0], right(item)[0]];
      return a !== undefined && b !== undefined && typeof a === typeof b && holds(a as never, b as never);
    });
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
  if (range) return value => (Array.isArray(value) ? slice(value, range[1]!, range[2]!, range[3] ?? '') : []);
  if (/^-?\d+$/.test(inner)) {
    const at = Number(inner);
    return value => {
      const i = Array.isArray(value) ? index(value.length, at) : -1;
      return Array.isArray(value) && i >= 0 && i < value.length ? [value[i]] : [];
    };
  }
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
