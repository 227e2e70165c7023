/**
 * Compiled operators: logic with its error rules, arithmetic, ordering, equality, membership. Work is charged first.
 */
import { compileIndex, compileOptionalIndex } from './access.js';
import type { Code } from './code.js';
import type { Frame } from '../cost/meter.js';
import * as ops from './ops.js';
import { CelError, Dict, List, noOverload, Unknown, type Value } from './values.js';

/**
 * Compiles `&&` (`decides` is false) and `||` (true). If any operand equals `decides`, so does the result, even if
 * another operand fails; otherwise unknown values and then the first error are thrown.
 */
export function compileLogic(args: readonly Code[], decides: boolean): Code {
  if (args.length === 2) {
    const [left, right] = args as [Code, Code];
    const evaluateRest = evaluateLogic([left, right], decides);
    return f => {
      f.charge(1);
      let a: Value;
      try {
        a = left(f);
      } catch (error) {
        return evaluateRest(f, error, 1);
      }
      if (a === decides) return a;
      if (a !== !decides) return evaluateRest(f, new CelError('no such overload'), 1);
      const b = right(f);
      return typeof b === 'boolean' ? b : noOverload();
    };
  }
  const all = evaluateLogic(args, decides);
  return f => {
    f.charge(args.length - 1);
    return all(f, undefined, 0);
  };
}

function evaluateLogic(args: readonly Code[], decides: boolean) {
  return (f: Frame, first: unknown, from: number): Value => {
    let failure = keepError(undefined, first);
    for (let i = from; i < args.length; i++) {
      try {
        const v = args[i]!(f);
        if (v === decides) return v;
        if (typeof v !== 'boolean') failure = keepError(failure, new CelError('no such overload'));
      } catch (error) {
        failure = keepError(failure, error);
      }
    }
    if (failure) throw failure;
    return !decides;
  };
}

/**
 * Combines an error with the one kept so far: unknown values are merged and replace errors; otherwise the first error
 * is kept. Rethrows anything else, such as an exhausted budget.
 */
export function keepError(kept: CelError | Unknown | undefined, error: unknown): CelError | Unknown | undefined {
  if (error === undefined) return kept;
  if (error instanceof Unknown) return kept instanceof Unknown ? new Unknown([...kept.names, ...error.names]) : error;
  if (error instanceof CelError) return kept ?? error;
  throw error;
}

/** Compiles a binary operator. */
export type BinaryCode = (a: Code, b: Code) => Code;

const arithmetic =
  (op: (a: Value, b: Value) => Value): BinaryCode =>
  (a, b) =>
  f => {
    f.charge(1);
    return op(a(f), b(f));
  };

/** Orders values other than two numbers; charges for the length of texts. */
function compareCharged(f: Frame, x: Value, y: Value, fn: string): number {
  if (typeof x === 'string' && typeof y === 'string') f.traverse(Math.min(x.length, y.length));
  return ops.compare(x, y, fn);
}

// Separate closures, because comparing numbers must not pay for a call of a shared function.
const less: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  return typeof x === 'number' && typeof y === 'number' ? x < y : compareCharged(f, x, y, '_<_') < 0;
};
const lessOrEqual: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  return typeof x === 'number' && typeof y === 'number' ? x <= y : compareCharged(f, x, y, '_<=_') <= 0;
};
const greater: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  return typeof x === 'number' && typeof y === 'number' ? x > y : compareCharged(f, x, y, '_>_') > 0;
};
const greaterOrEqual: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  return typeof x === 'number' && typeof y === 'number' ? x >= y : compareCharged(f, x, y, '_>=_') >= 0;
};

const equality =
  (want: boolean): BinaryCode =>
  (a, b) =>
  f => {
    f.charge(1);
    const x = a(f);
    const y = b(f);
    if (typeof x === 'string' && typeof y === 'string') {
      f.traverse(Math.min(x.length, y.length));
      return (x === y) === want;
    }
    if (typeof x === 'object' && x !== null && typeof y === 'object' && y !== null) chargeDeep(f, x, y);
    return ops.equal(x, y) === want;
  };

/** Charges for the comparison of two aggregates before it is made. */
function chargeDeep(f: Frame, x: Value, y: Value): void {
  if (x instanceof List && y instanceof List) {
    if (x.size !== y.size) return;
    f.charge(x.equals ? x.size * x.size : x.size);
    for (let i = 0; i < x.size; i++) chargeDeep(f, x.at(i), y.at(i));
  } else if (x instanceof Dict && y instanceof Dict) {
    if (x.size !== y.size) return;
    f.charge(x.size);
    for (const k of x.keys()) {
      const other = y.get(k);
      if (other !== undefined) chargeDeep(f, x.get(k)!, other);
    }
  } else f.traverse(Math.min(ops.weight(x), ops.weight(y)));
}

const plus: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  if (typeof x === 'string' && typeof y === 'string') f.traverse(x.length + y.length);
  else if (x instanceof List && y instanceof List) f.charge(x.size + y.size);
  else if (x instanceof Uint8Array && y instanceof Uint8Array) f.traverse(x.length + y.length);
  return ops.add(x, y);
};

const contains: BinaryCode = (a, b) => f => {
  f.charge(1);
  const x = a(f);
  const y = b(f);
  if (y instanceof Dict) return y.get(x) !== undefined;
  if (!(y instanceof List)) return noOverload();
  for (let i = 0; i < y.size; i++) {
    f.charge(1);
    const item = y.at(i);
    if (typeof item === 'object' && item !== null) chargeDeep(f, item, x);
    if (ops.equal(item, x)) return true;
  }
  return false;
};

/** The binary operators, by name. */
export const BINARY: ReadonlyMap<string, BinaryCode> = new Map<string, BinaryCode>([
  ['_+_', plus],
  ['_-_', arithmetic(ops.subtract)],
  ['_*_', arithmetic(ops.multiply)],
  ['_/_', arithmetic(ops.divide)],
  ['_%_', arithmetic(ops.modulo)],
  ['_==_', equality(true)],
  ['_!=_', equality(false)],
  ['_<_', less],
  ['_<=_', lessOrEqual],
  ['_>_', greater],
  ['_>=_', greaterOrEqual],
  ['@in', contains],
  ['_[_]', compileIndex],
  ['_[?_]', compileOptionalIndex],
]);
