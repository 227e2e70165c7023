/** The math functions. */
import { declareGlobal, type Overload } from '../check/declarations.js';
import type { Library } from '../library.js';
import { MATH_MACROS } from '../syntax/macros.js';
import { compare, intResult, isInt, isZero, uintResult } from '../evaluate/ops.js';
import {
  canonical,
  Double,
  fail,
  type Int,
  iterate,
  type List,
  noOverload,
  Uint,
  type Value,
} from '../evaluate/values.js';

const NUMERIC = ['int', 'uint', 'double'];
const compareNumbers = (a: Value, b: Value): number => compare(a, b);

const pick =
  (sign: number) =>
  (a: Value, b: Value): Value =>
    compareNumbers(b, a) * sign > 0 ? b : a;

function pickList(sign: number, name: string) {
  return (v: Value, _b: Value, _c: Value, m: { charge(n: number): void }): Value => {
    let best: Value | undefined;
    for (const item of iterate(v as List)) {
      m.charge(1);
      if (!isInt(item) && !(item instanceof Uint) && !(item instanceof Double)) return noOverload();
      best = best === undefined ? item : pick(sign)(best, item);
    }
    return best === undefined ? fail(`math.${name}(list) argument must not be empty`) : best;
  };
}

function extremes(fn: string, name: string, sign: number): Overload[] {
  return [
    ...NUMERIC.map(t => declareGlobal(`${fn}(${t}): ${t}`, v => v)),
    ...NUMERIC.flatMap(a => NUMERIC.map(b => declareGlobal(`${fn}(${a}, ${b}): ${a === b ? a : 'dyn'}`, pick(sign)))),
    ...NUMERIC.map(t => declareGlobal(`${fn}(list(${t})): ${t}`, pickList(sign, name))),
  ];
}

const mapDouble =
  (fn: (n: number) => number) =>
  (v: Value): Value =>
    new Double(fn((v as Double).value));
const testDouble =
  (fn: (n: number) => boolean) =>
  (v: Value): Value =>
    fn((v as Double).value);
const round = (n: number): number => (Number.isFinite(n) ? Math.sign(n) * Math.round(Math.abs(n)) : n);

const bitwise =
  (op: (a: bigint, b: bigint) => bigint) =>
  (a: Value, b: Value): Value =>
    a instanceof Uint && b instanceof Uint
      ? new Uint(canonical(BigInt.asUintN(64, op(BigInt(a.value), BigInt(b.value)))))
      : canonical(BigInt.asIntN(64, op(BigInt(a as Int), BigInt(b as Int))));

const shift =
  (left: boolean) =>
  (a: Value, by: Value): Value => {
    const n = by as Int;
    if (n < 0) fail(`math.bitShift${left ? 'Left' : 'Right'}() negative offset: ${n}`);
    if (n >= 64) return a instanceof Uint ? new Uint(0) : 0;
    const raw = BigInt.asUintN(64, BigInt(a instanceof Uint ? a.value : (a as Int)));
    const moved = left ? raw << BigInt(n) : raw >> BigInt(n);
    return a instanceof Uint ? new Uint(canonical(BigInt.asUintN(64, moved))) : canonical(BigInt.asIntN(64, moved));
  };

/** The math library. */
export const MATH: Library = {
  name: 'math',
  macros: MATH_MACROS,
  functions: [
    ...extremes('math.@max', 'greatest', 1),
    ...extremes('math.@min', 'least', -1),
    declareGlobal('math.ceil(double): double', mapDouble(Math.ceil)),
    declareGlobal('math.floor(double): double', mapDouble(Math.floor)),
    declareGlobal('math.round(double): double', mapDouble(round)),
    declareGlobal('math.trunc(double): double', mapDouble(Math.trunc)),
    declareGlobal('math.sqrt(double): double', mapDouble(Math.sqrt)),
    declareGlobal('math.sqrt(int): double', v => new Double(Math.sqrt(Number(v as Int)))),
    declareGlobal('math.sqrt(uint): double', v => new Double(Math.sqrt(Number((v as Uint).value)))),
    declareGlobal('math.abs(double): double', mapDouble(Math.abs)),
    declareGlobal('math.abs(int): int', v => ((v as Int) < 0 ? intResult(-BigInt(v as Int)) : v)),
    declareGlobal('math.abs(uint): uint', v => v),
    declareGlobal('math.sign(double): double', mapDouble(Math.sign)),
    declareGlobal('math.sign(int): int', v => ((v as Int) < 0 ? -1 : v === 0 ? 0 : 1)),
    declareGlobal('math.sign(uint): uint', v => (isZero(v) ? v : uintResult(1n))),
    declareGlobal('math.isNaN(double): bool', testDouble(Number.isNaN)),
    declareGlobal(
      'math.isInf(double): bool',
      testDouble(n => !Number.isFinite(n) && !Number.isNaN(n)),
    ),
    declareGlobal('math.isFinite(double): bool', testDouble(Number.isFinite)),
    ...['int', 'uint'].flatMap(t => [
      declareGlobal(
        `math.bitAnd(${t}, ${t}): ${t}`,
        bitwise((a, b) => a & b),
      ),
      declareGlobal(
        `math.bitOr(${t}, ${t}): ${t}`,
        bitwise((a, b) => a | b),
      ),
      declareGlobal(
        `math.bitXor(${t}, ${t}): ${t}`,
        bitwise((a, b) => a ^ b),
      ),
      declareGlobal(`math.bitNot(${t}): ${t}`, v => bitwise(a => ~a)(v, v)),
      declareGlobal(`math.bitShiftLeft(${t}, int): ${t}`, shift(true)),
      declareGlobal(`math.bitShiftRight(${t}, int): ${t}`, shift(false)),
    ]),
  ],
};
