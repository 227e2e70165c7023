/** Functions and their overloads, declared by signatures such as `string.charAt(int): string`. */
import type { Meter } from '../cost/meter.js';
import * as T from './types.js';
import type { Type } from './types.js';
import type { Value } from '../evaluate/values.js';

/**
 * Implements a function: up to four arguments (the target first), and the meter to charge for work that depends on
 * their sizes.
 */
export type Implementation = (a: Value, b: Value, c: Value, meter: Meter, d: Value) => Value;

/** One signature of a function. */
export interface Overload {
  readonly fn: string;
  readonly member: boolean;
  readonly args: readonly Type[];
  readonly result: Type;
  readonly call: Implementation;
}

/** An invalid declaration, named in the message. */
export class DeclarationError extends Error {}

const SIMPLE = new Map<string, Type>([
  ['bool', T.BOOL],
  ['int', T.INT],
  ['uint', T.UINT],
  ['double', T.DOUBLE],
  ['string', T.STRING],
  ['bytes', T.BYTES],
  ['null', T.NULL],
  ['timestamp', T.TIMESTAMP],
  ['duration', T.DURATION],
  ['dyn', T.DYN],
  ['type', T.typeType()],
]);

/**
 * Parses a type as signatures spell it: `list(T)`, `map(K, V)`, `optional(T)`, one capital for a parameter, a dotted
 * name for an opaque type. Throws `DeclarationError`.
 */
export function parseType(text: string): Type {
  const src = text.trim();
  const open = src.indexOf('(');
  if (open < 0) {
    const simple = SIMPLE.get(src);
    if (simple) return simple;
    if (/^[A-Z]$/.test(src)) return T.param(src);
    if (/^[A-Za-z_][\w]*(\.[A-Za-z_]\w*)+$/.test(src)) return T.opaqueType(src);
    throw new DeclarationError(`unknown type '${src}'`);
  }
  if (!src.endsWith(')')) throw new DeclarationError(`malformed type '${src}'`);
  const args = splitArgs(src.slice(open + 1, -1)).map(parseType);
  const head = src.slice(0, open);
  const want = head === 'map' ? 2 : 1;
  if (args.length !== want) throw new DeclarationError(`type '${head}' takes ${want} parameter(s)`);
  if (head === 'list') return T.listType(args[0]!);
  if (head === 'map') return T.mapType(args[0]!, args[1]!);
  if (head === 'optional') return T.optionalType(args[0]!);
  if (head === 'type') return T.typeType(args[0]!);
  if (head === 'wrapper') return T.wrapperType(args[0]!);
  throw new DeclarationError(`unknown type '${head}'`);
}

function splitArgs(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === '(') depth++;
    else if (c === ')') depth--;
    if (i === text.length || (c === ',' && depth === 0)) {
      if (text.slice(start, i).trim()) out.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return out;
}

/**
 * Declares one overload. In `string.charAt(int): string`, the part before the last dot is the target's type; with
 * `namespaced` it is part of the name (`math.ceil(double): double`). Throws `DeclarationError`.
 */
export function declare(signature: string, call: Implementation, namespaced = false): Overload {
  try {
    const colon = signature.lastIndexOf('):') + 1;
    if (colon < 1) throw new DeclarationError('no result type');
    const result = parseType(signature.slice(colon + 1));
    const head = signature.slice(0, colon);
    const open = argumentsStart(head);
    const args = splitArgs(head.slice(open + 1, -1)).map(parseType);
    const name = head.slice(0, open);
    const dot = name.lastIndexOf('.');
    const member = dot > 0 && !namespaced;
    const fn = member ? name.slice(dot + 1) : name;
    if (!/^[\w.@$!<>=+\-*/%?:&|[\]]+$/.test(fn)) throw new DeclarationError(`bad function name '${fn}'`);
    return { fn, member, args: member ? [parseType(name.slice(0, dot)), ...args] : args, result, call };
  } catch (error) {
    throw error instanceof DeclarationError
      ? new DeclarationError(`declaration '${signature}': ${error.message}`)
      : error;
  }
}

/** Like `declare`, for functions with a namespace in their name. */
export const declareGlobal = (signature: string, call: Implementation): Overload => declare(signature, call, true);

function argumentsStart(head: string): number {
  let depth = 0;
  for (let i = head.length - 1; i >= 0; i--) {
    if (head[i] === ')') depth++;
    else if (head[i] === '(' && --depth === 0) return i;
  }
  throw new DeclarationError('no argument list');
}
