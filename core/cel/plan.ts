/** Compiles a checked tree to closures over a frame of slots. The tree is not kept. */
import * as Ast from './ast.js';
import { fieldOf, hasField, optionalField } from './access.js';
import { dispatch } from './dispatch.js';
import type { Environment } from './environment.js';
import { compileRegex } from './lib/regex.js';
import { loopCode } from './loops.js';
import { BudgetExceeded, Frame, freeFrame } from './meter.js';
import { negate } from './ops.js';
import { BINARY, logic } from './operators.js';
import { isOptional } from './types.js';
import {
  ArrayList,
  CelError,
  Dict,
  fail,
  fromPlain,
  keyOf,
  MapDict,
  type MapKey,
  noOverload,
  Optional,
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
const NO_LOCALS: Value[] = [];

/** A compiled expression; may be evaluated any number of times. */
export class Program {
  constructor(
    private readonly code: Code,
    private readonly names: readonly string[],
    /** How deep loops and bindings nest. */
    private readonly localCount: number,
  ) {}

  /** Evaluates with the given variables. Never throws for anything an expression can do. */
  evaluate(activation: Activation, options: { readonly budget?: number } = {}): Outcome {
    const { names } = this;
    const slots = new Array<unknown>(names.length);
    for (let i = 0; i < slots.length; i++) slots[i] = lookup(activation, names[i]!);
    const locals = this.localCount === 0 ? NO_LOCALS : new Array<Value>(this.localCount);
    const frame = new Frame(options.budget ?? Number.POSITIVE_INFINITY, slots, locals);
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
export function plan(expr: Ast.Expr, env: Environment): Program {
  const planner = new Planner(env);
  const code = planner.code(expr);
  return new Program(code, planner.names, planner.deepest);
}

/** Conversions of constants are made while planning; one that cannot succeed refuses the expression. */
const FOLDED = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'duration', 'timestamp', 'dyn']);
const PATTERN_FUNCTIONS = new Set(['matches', 'find', 'findAll']);

/** Turns nodes into closures and names into slots. */
export class Planner implements Ast.Visitor<Code> {
  /** Variables of the activation, by slot. */
  readonly names: string[] = [];
  private readonly locals: string[] = [];
  deepest = 0;
  /** Nodes whose value is known: literals of constants, and conversions of those. */
  private readonly known = new Map<Ast.Expr, Value>();
  constructor(private readonly env: Environment) {}

  private valueOf(e: Ast.Expr): Value | undefined {
    return e.is === 'const' ? e.value : this.known.get(e);
  }

  code(e: Ast.Expr): Code {
    return Ast.visit(e, this);
  }

  constant({ value }: Ast.ConstExpr): Code {
    return () => value;
  }

  struct(e: Ast.StructExpr): Code {
    return () => fail(`unknown type '${e.name}'`);
  }

  loop(e: Ast.ComprehensionExpr): Code {
    return loopCode(this, e);
  }

  /** Plans a part that sees new local variables; answers their slots in `Frame.locals`. */
  withLocals<R>(names: readonly string[], run: (slots: readonly number[]) => R): R {
    const first = this.locals.length;
    this.locals.push(...names);
    this.deepest = Math.max(this.deepest, this.locals.length);
    const result = run(names.map((_, i) => first + i));
    this.locals.length = first;
    return result;
  }

  ident(e: Ast.IdentExpr): Code {
    if (e.resolved) return this.declared(e.resolved);
    const local = this.locals.lastIndexOf(e.name);
    return local >= 0 ? localCode(local) : this.variable(e.name.replace(/^\./, ''));
  }

  private declared(name: string): Code {
    const constant = this.env.isVariable(name) ? undefined : this.env.constants.get(name);
    return constant ? () => constant.value : this.variable(name);
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

  select(e: Ast.SelectExpr): Code {
    if (e.resolved) return this.declared(e.resolved);
    const operand = this.code(e.operand);
    const field = e.field;
    if (e.operand.type && isOptional(e.operand.type)) {
      const get = optionalField(operand, field);
      return e.test ? f => (get(f) as Optional).value !== undefined : get;
    }
    return e.test ? hasField(operand, field) : fieldOf(operand, field);
  }

  list(e: Ast.ListExpr): Code {
    const items = e.items.map(i => this.code(i));
    const constants = e.items.map(i => this.valueOf(i));
    if (e.optional.size === 0 && constants.every(v => v !== undefined)) {
      const value = new ArrayList(constants);
      this.known.set(e, value);
      return f => {
        f.charge(10);
        return value;
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

  map(e: Ast.MapExpr): Code {
    const entries = e.entries.map(x => ({ key: this.code(x.key), value: this.code(x.value), optional: x.optional }));
    return f => {
      f.charge(30);
      const out = new Map<MapKey, readonly [Value, Value]>();
      for (const entry of entries) {
        const key = entry.key(f);
        let value = entry.value(f);
        const k = keyOf(key);
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

  bind(e: Ast.BindExpr): Code {
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

  call(e: Ast.CallExpr): Code {
    const operator = e.target ? undefined : this.operator(e);
    if (operator) return operator;
    const parts = (e.target && !e.qualified ? [e.target, ...e.args] : [...e.args]) as Ast.Expr[];
    const args = parts.map(a => this.code(a));
    const overloads = e.overloads ?? [];
    const code = dispatch(
      e.qualified ?? e.fn,
      overloads,
      args,
      parts.map(p => p.type),
    );
    const only = parts.length === 1 && !e.target && FOLDED.has(e.fn) ? this.valueOf(parts[0]!) : undefined;
    if (only !== undefined) {
      const value = code(freeFrame());
      this.known.set(e, value);
      return f => {
        f.cost++;
        return value;
      };
    }
    const pattern = PATTERN_FUNCTIONS.has(e.fn) && parts[1]?.is === 'const' ? parts[1].value : undefined;
    if (typeof pattern === 'string' && !compileRegex(pattern)) fail('error parsing regexp');
    return code;
  }

  private operator(e: Ast.CallExpr): Code | undefined {
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
        return negate(a(f));
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
