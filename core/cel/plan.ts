/** Compiles a checked tree to closures over a frame of slots. The tree is not kept. */
import type { BindExpr, CallExpr, Expr, ListExpr, MapExpr, SelectExpr } from './ast.js';
import { dispatch } from './dispatch.js';
import type { Environment } from './environment.js';
import { loopCode } from './loops.js';
import { BudgetExceeded, Frame } from './meter.js';
import * as ops from './ops.js';
import { isOptional } from './types.js';
import type * as V from './values.js';
import {
  ArrayList,
  CelError,
  Dict,
  Double,
  fail,
  fromPlain,
  keyOf,
  List,
  MapDict,
  noOverload,
  Optional,
  Uint,
  Unknown,
  type Value,
} from './values.js';

/** One node, compiled. */
export type Code = (f: Frame) => Value;

/** The outcome of an evaluation: exactly one of `value`, `error` and `unknown`. */
export interface Outcome {
  readonly value?: Value;
  readonly error?: string;
  readonly unknown?: readonly string[];
  /** The evaluation was cut off by its budget. */
  readonly exceeded?: boolean;
  readonly cost: number;
}

/** Values of variables: plain data, CEL values, or functions asked once per use. */
export type Activation = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

const MISSING = Symbol('missing');

/** A compiled expression; may be evaluated any number of times. */
export class Program {
  constructor(
    private readonly code: Code,
    private readonly names: readonly string[],
    private readonly slotCount: number,
  ) {}

  /** Evaluates with the given variables. Never throws for anything an expression can do. */
  evaluate(activation: Activation, options: { readonly budget?: number } = {}): Outcome {
    const slots = new Array<unknown>(this.slotCount);
    for (let i = 0; i < this.names.length; i++) slots[i] = lookup(activation, this.names[i]!);
    const frame = new Frame(options.budget ?? Number.POSITIVE_INFINITY, slots);
    try {
      return { value: this.code(frame), cost: frame.cost };
    } catch (error) {
      if (error instanceof CelError) return { error: error.message, cost: frame.cost };
      if (error instanceof Unknown) return { unknown: error.names, cost: frame.cost };
      if (error instanceof BudgetExceeded) return { error: error.message, exceeded: true, cost: frame.cost };
      if (error instanceof RangeError)
        return { error: 'evaluation exceeds the stack or memory', exceeded: true, cost: frame.cost };
      throw error;
    }
  }
}

function lookup(activation: Activation, name: string): unknown {
  if (activation instanceof Map) return activation.has(name) ? activation.get(name) : MISSING;
  return Object.hasOwn(activation, name) ? (activation as Record<string, unknown>)[name] : MISSING;
}

/** Plans a tree; throws `CelError` when a constant conversion in it cannot succeed. */
export function plan(expr: Expr, env: Environment): Program {
  const planner = new Planner(env);
  const code = planner.code(expr);
  return new Program(code, planner.names, planner.names.length);
}

const FOLDED = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'duration', 'timestamp']);

/** Turns nodes into closures and names into slots. */
export class Planner {
  /** Variables of the activation, by slot. */
  readonly names: string[] = [];
  private readonly locals: string[] = [];
  constructor(private readonly env: Environment) {}

  code(e: Expr): Code {
    switch (e.is) {
      case 'const': {
        const value = e.value;
        return () => value;
      }
      case 'ident':
        return this.ident(e.name, e.resolved);
      case 'select':
        return this.select(e);
      case 'call':
        return this.call(e);
      case 'list':
        return this.list(e);
      case 'map':
        return this.map(e);
      case 'struct':
        return () => fail(`unknown type '${e.name}'`);
      case 'loop':
        return loopCode(this, e);
      case 'bind':
        return this.bind(e);
    }
  }

  /** Plans a part that sees new local variables; answers their slots in `Frame.locals`. */
  withLocals<R>(names: readonly string[], run: (slots: readonly number[]) => R): R {
    const first = this.locals.length;
    this.locals.push(...names);
    const result = run(names.map((_, i) => first + i));
    this.locals.length = first;
    return result;
  }

  private ident(name: string, resolved: string | undefined): Code {
    if (!resolved) {
      const local = this.locals.lastIndexOf(name);
      if (local >= 0) return localCode(local);
      return this.variable(name.replace(/^\./, ''));
    }
    const constant = this.env.isVariable(resolved) ? undefined : this.env.constants.get(resolved);
    if (constant) return () => constant.value;
    return this.variable(resolved);
  }

  private variable(name: string): Code {
    let slot = this.names.indexOf(name);
    if (slot < 0) slot = this.names.push(name) - 1;
    return f => {
      f.cost++;
      const raw = f.slots[slot];
      if (raw instanceof Dict) return raw;
      if (raw === MISSING) return fail(`no such attribute: ${name}`);
      if (raw instanceof Unknown) throw raw;
      return fromPlain(raw);
    };
  }

  private select(e: SelectExpr): Code {
    if (e.resolved) return this.ident('', e.resolved);
    const operand = this.code(e.operand);
    const field = e.field;
    if (e.operand.type && isOptional(e.operand.type)) {
      const get = optionalField(operand, field);
      return e.test ? f => (get(f) as Optional).value !== undefined : get;
    }
    if (e.test) {
      return f => {
        f.cost++;
        const v = operand(f);
        return v instanceof Dict
          ? v.get(field) !== undefined
          : v instanceof Optional
            ? v.value instanceof Dict && v.value.get(field) !== undefined
            : noOverload();
      };
    }
    return f => {
      f.cost++;
      const v = operand(f);
      if (v instanceof Dict) return v.get(field) ?? fieldMissing(field);
      return v instanceof Optional ? selectOptional(v, field) : noOverload();
    };
  }

  private list(e: ListExpr): Code {
    const items = e.items.map(i => this.code(i));
    if (e.items.every(i => i.is === 'const')) {
      const constant = new ArrayList(e.items.map(i => (i as { value: Value }).value));
      return f => {
        f.charge(10);
        return constant;
      };
    }
    if (e.optional.size === 0) {
      return f => {
        f.charge(10);
        const out = new Array<Value>(items.length);
        for (let i = 0; i < out.length; i++) out[i] = items[i]!(f);
        return new ArrayList(out);
      };
    }
    return f => {
      f.charge(10);
      const out: Value[] = [];
      items.forEach((item, i) => {
        const v = item(f);
        if (!e.optional.has(i)) out.push(v);
        else if (!(v instanceof Optional)) fail(`cannot initialize optional list element from non-optional value`);
        else if (v.value !== undefined) out.push(v.value);
      });
      return new ArrayList(out);
    };
  }

  private map(e: MapExpr): Code {
    const entries = e.entries.map(x => ({ key: this.code(x.key), value: this.code(x.value), optional: x.optional }));
    return f => {
      f.charge(30);
      const out = new Map<string | V.Int | boolean, readonly [Value, Value]>();
      for (const entry of entries) {
        const key = entry.key(f);
        let value = entry.value(f);
        const k = key instanceof Double ? undefined : keyOf(key);
        if (k === undefined) return fail(`unsupported key type`);
        if (entry.optional) {
          if (!(value instanceof Optional))
            return fail(`cannot initialize optional entry '${String(k)}' from non-optional value`);
          if (value.value === undefined) continue;
          value = value.value;
        }
        out.set(k, [key, value]);
      }
      return new MapDict(out);
    };
  }

  private bind(e: BindExpr): Code {
    const init = this.code(e.init);
    return this.withLocals([e.name], ([slot]) => {
      const body = this.code(e.body);
      const at = slot!;
      if (e.kind === 'bind') {
        return f => {
          f.locals[at] = init(f);
          return body(f);
        };
      }
      const map = e.kind === 'optMap';
      return f => {
        f.cost++;
        const v = init(f);
        if (!(v instanceof Optional)) return noOverload();
        if (v.value === undefined) return Optional.none;
        f.locals[at] = v.value;
        return map ? new Optional(body(f)) : body(f);
      };
    });
  }

  private call(e: CallExpr): Code {
    const operator = e.target ? undefined : this.operator(e);
    if (operator) return operator;
    const parts = (e.target && !e.qualified ? [e.target, ...e.args] : [...e.args]) as Expr[];
    const args = parts.map(a => this.code(a));
    const overloads = e.overloads ?? [];
    const code = dispatch(
      overloads,
      args,
      parts.map(p => p.type),
    );
    if (parts.every(p => p.is === 'const') && !e.target && FOLDED.has(e.fn)) {
      const value = code(new Frame(Number.POSITIVE_INFINITY, []));
      return f => {
        f.cost++;
        return value;
      };
    }
    if ((e.fn === 'matches' || e.fn === 'find' || e.fn === 'findAll') && parts[1]?.is === 'const') {
      const warm = overloads[0];
      if (warm && typeof (parts[1] as { value: Value }).value === 'string')
        warm.call('', (parts[1] as { value: Value }).value, 0, new Frame(Number.POSITIVE_INFINITY, []), null);
    }
    return code;
  }

  private operator(e: CallExpr): Code | undefined {
    if (e.fn === '_&&_' || e.fn === '_||_')
      return logic(
        e.args.map(a => this.code(a)),
        e.fn === '_||_',
      );
    if (e.fn === '_?._') return optionalField(this.code(e.args[0]!), String((e.args[1] as { value?: Value }).value));
    const binary = BINARY.get(e.fn);
    if (binary && e.args.length === 2) return binary(this.code(e.args[0]!), this.code(e.args[1]!));
    if (e.fn === '_?_:_') {
      const [c, yes, no] = e.args.map(a => this.code(a)) as [Code, Code, Code];
      return f => {
        f.cost++;
        const v = c(f);
        return v === true ? yes(f) : v === false ? no(f) : noOverload();
      };
    }
    if (e.fn === '!_') {
      const a = this.code(e.args[0]!);
      return f => {
        f.charge(1);
        const v = a(f);
        return typeof v === 'boolean' ? !v : noOverload();
      };
    }
    if (e.fn === '-_') {
      const a = this.code(e.args[0]!);
      return f => {
        f.charge(1);
        return ops.negate(a(f));
      };
    }
    return undefined;
  }
}

function localCode(at: number): Code {
  return f => {
    f.cost++;
    return f.locals[at]!;
  };
}

function fieldMissing(field: string): never {
  return fail(`no such key: ${field}`);
}

function selectOptional(v: Optional, field: string): Value {
  if (v.value === undefined) return v;
  if (v.value instanceof Optional) return selectOptional(v.value, field);
  if (!(v.value instanceof Dict)) return noOverload();
  const found = v.value.get(field);
  return found === undefined ? Optional.none : new Optional(found);
}

function optionalField(operand: Code, field: string): Code {
  return f => {
    f.charge(1);
    const v = operand(f);
    return selectOptional(v instanceof Optional ? v : new Optional(v), field);
  };
}

/** `&&` and `||`: the deciding value wins wherever it stands; else unknowns, then the first error. */
function logic(args: readonly Code[], decides: boolean): Code {
  if (args.length === 2) {
    const [left, right] = args as [Code, Code];
    const slow = logicN([left, right], decides);
    return f => {
      f.charge(1);
      let a: Value;
      try {
        a = left(f);
      } catch (error) {
        return slow(f, error, 1);
      }
      if (a === decides) return a;
      if (a !== !decides) return slow(f, new CelError('no such overload'), 1);
      const b = right(f);
      return typeof b === 'boolean' ? b : noOverload();
    };
  }
  const all = logicN(args, decides);
  return f => {
    f.charge(args.length - 1);
    return all(f, undefined, 0);
  };
}

function logicN(args: readonly Code[], decides: boolean) {
  return (f: Frame, first: unknown, from: number): Value => {
    let failure = swallow(undefined, first);
    for (let i = from; i < args.length; i++) {
      try {
        const v = args[i]!(f);
        if (v === decides) return v;
        if (typeof v !== 'boolean') failure = swallow(failure, new CelError('no such overload'));
      } catch (error) {
        failure = swallow(failure, error);
      }
    }
    if (failure) throw failure;
    return !decides;
  };
}

/** Keeps an error for later; an exhausted budget is not kept but thrown. Unknowns displace errors and gather. */
export function swallow(kept: CelError | Unknown | undefined, error: unknown): CelError | Unknown | undefined {
  if (error === undefined) return kept;
  if (error instanceof Unknown) return kept instanceof Unknown ? new Unknown([...kept.names, ...error.names]) : error;
  if (error instanceof CelError) return kept ?? error;
  throw error;
}

type BinaryCode = (a: Code, b: Code) => Code;

const arithmetic =
  (op: (a: Value, b: Value) => Value): BinaryCode =>
  (a, b) =>
  f => {
    f.charge(1);
    return op(a(f), b(f));
  };

const ordered =
  (test: (order: number) => boolean): BinaryCode =>
  (a, b) =>
  f => {
    f.charge(1);
    const x = a(f);
    const y = b(f);
    if (typeof x === 'number' && typeof y === 'number') return test(x - y);
    if (typeof x === 'string' && typeof y === 'string') f.traverse(Math.min(x.length, y.length));
    if ((x instanceof Double && Number.isNaN(x.value)) || (y instanceof Double && Number.isNaN(y.value)))
      fail('NaN values cannot be ordered');
    return test(ops.compare(x, y));
  };

const equality =
  (want: boolean): BinaryCode =>
  (a, b) =>
  f => {
    f.charge(1);
    const x = a(f);
    const y = b(f);
    if (typeof x === 'object' && x !== null && typeof y === 'object' && y !== null) chargeDeep(f, x, y);
    else if (typeof x === 'string' && typeof y === 'string') f.traverse(Math.min(x.length, y.length));
    return ops.equal(x, y) === want;
  };

/** Charges what comparing two aggregates may read before it is read. */
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

/** The element of a list or map; `undefined` when absent. */
function element(container: Value, index: Value): Value | undefined {
  if (container instanceof List) {
    const i = index instanceof Uint || index instanceof Double ? index.value : index;
    if (typeof i !== 'number' && typeof i !== 'bigint') return noOverload();
    if (typeof i === 'bigint' || !Number.isInteger(i) || i < 0 || i >= container.size) {
      if (index instanceof Double && !Number.isInteger(index.value))
        return fail(`unsupported index value in list: ${index.value}`);
      return undefined;
    }
    return container.at(i);
  }
  if (container instanceof Dict) return container.get(index);
  return noOverload();
}

const indexed: BinaryCode = (a, b) => f => {
  f.charge(1);
  const container = a(f);
  const index = b(f);
  if (container instanceof Optional) return optionalElement(container, index);
  const found = element(container, index);
  if (found !== undefined) return found;
  const shown = keyOf(index);
  return container instanceof List
    ? fail(`index out of bounds: ${shown}`)
    : shown === undefined && !(index instanceof Double)
      ? noOverload()
      : fail(`no such key: ${shown ?? ''}`);
};

function optionalElement(container: Optional, index: Value): Value {
  if (container.value === undefined) return container;
  const found = element(container.value, index);
  return found === undefined ? Optional.none : new Optional(found);
}

const optionalIndexed: BinaryCode = (a, b) => f => {
  f.charge(1);
  const container = a(f);
  return optionalElement(container instanceof Optional ? container : new Optional(container), b(f));
};

const BINARY = new Map<string, BinaryCode>([
  ['_+_', plus],
  ['_-_', arithmetic(ops.subtract)],
  ['_*_', arithmetic(ops.multiply)],
  ['_/_', arithmetic(ops.divide)],
  ['_%_', arithmetic(ops.modulo)],
  ['_==_', equality(true)],
  ['_!=_', equality(false)],
  ['_<_', ordered(o => o < 0)],
  ['_<=_', ordered(o => o <= 0)],
  ['_>_', ordered(o => o > 0)],
  ['_>=_', ordered(o => o >= 0)],
  ['@in', contains],
  ['_[_]', indexed],
  ['_[?_]', optionalIndexed],
]);
