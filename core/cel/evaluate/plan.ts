/** The planner: compiles a checked tree to closures over a frame of slots. The tree is not kept. */
import * as Ast from '../syntax/ast.js';
import { compileField, compileHas, compileOptionalField } from './access.js';
import type { Code, Compiler } from './code.js';
import { dispatch } from './dispatch.js';
import { compileRegex } from '../lib/regex.js';
import { compileLoop } from './loops.js';
import { BudgetExceeded, Frame, unlimitedFrame } from '../cost/meter.js';
import { negate } from './ops.js';
import { BINARY, compileLogic } from './operators.js';
import { isOptional } from '../check/types.js';
import {
  ArrayList,
  CelError,
  Dict,
  fail,
  fromPlain,
  keyOf,
  MapDict,
  Message,
  type MapKey,
  noOverload,
  Optional,
  typeNameOf,
  Unknown,
  type Value,
} from './values.js';

/** The outcome of an evaluation: exactly one of `value`, `error` and `unknown` is set. */
export interface Outcome {
  readonly value?: Value;
  readonly error?: string;
  readonly unknown?: readonly string[];
  /** The evaluation was cut off by its budget. */
  readonly exceeded?: boolean;
  readonly cost: number;
}

/** Values of variables by name: decoded JSON or CEL values. */
export type Activation = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

const MISSING = Symbol('missing');
const NO_LOCALS: Value[] = [];

/** A compiled expression; may be evaluated any number of times. */
export class Program {
  constructor(
    private readonly code: Code,
    private readonly names: readonly string[],
    /** The number of local variables that are in scope at once. */
    private readonly localCount: number,
  ) {}

  /** Evaluates with the given variables. Errors of the expression are part of the outcome, never thrown. */
  evaluate(activation: Activation, options: { readonly budget?: number } = {}): Outcome {
    const { names } = this;
    const slots = new Array<unknown>(names.length);
    const locals = this.localCount === 0 ? NO_LOCALS : new Array<Value>(this.localCount);
    const frame = new Frame(options.budget ?? Number.POSITIVE_INFINITY, slots, locals);
    try {
      // Variables may be computed when they are read, and fail then.
      for (let i = 0; i < slots.length; i++) slots[i] = lookup(activation, names[i]!);
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

/** The meaning of each name in a tree. */
export interface Names {
  /** Names with a value in every evaluation. */
  readonly constants: ReadonlyMap<string, { readonly value: Value }>;
  /** Whether the name is a variable, whose value is in the activation. */
  isVariable(name: string): boolean;
}

/** Compiles a tree. Throws `CelError` if a conversion of a constant in it fails. */
export function plan(expr: Ast.Expr, env: Names): Program {
  const planner = new Planner(env);
  const code = planner.compile(expr);
  return new Program(code, planner.names, planner.maxLocals);
}

/** Conversions that are evaluated during planning if their argument is constant. */
const FOLDED = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'duration', 'timestamp', 'dyn']);
const PATTERN_FUNCTIONS = new Set(['matches', 'find', 'findAll']);

/** Compiles nodes to closures and assigns slots to names. */
class Planner implements Ast.Visitor<Code>, Compiler {
  /** Variables of the activation, by slot. */
  readonly names: string[] = [];
  private readonly locals: string[] = [];
  maxLocals = 0;
  /** Nodes with a constant value: literals of constants, and conversions of those. */
  private readonly known = new Map<Ast.Expr, Value>();
  constructor(private readonly env: Names) {}

  private valueOf(e: Ast.Expr): Value | undefined {
    return e.is === 'const' ? e.value : this.known.get(e);
  }

  compile(e: Ast.Expr): Code {
    return Ast.visit(e, this);
  }

  constant({ value }: Ast.ConstExpr): Code {
    return () => value;
  }

  struct(e: Ast.StructExpr): Code {
    const name = e.type?.kind === 'object' ? e.type.name : undefined;
    if (name === undefined) return () => fail(`unknown type '${e.name}'`);
    const fields = e.fields.map(field => ({ ...field, code: this.compile(field.value) }));
    return f => {
      f.charge(40);
      const out = new Map<string, Value>();
      for (const field of fields) {
        let value = field.code(f);
        if (field.optional) {
          if (!(value instanceof Optional))
            return fail(`cannot initialize optional entry '${field.name}' from non-optional value`);
          if (value.value === undefined) continue;
          value = value.value;
        }
        out.set(field.name, value);
      }
      return new Message(name, out);
    };
  }

  loop(e: Ast.ComprehensionExpr): Code {
    return compileLoop(this, e);
  }

  /** Compiles a part of the tree in the scope of new local variables; `run` gets their slots in `Frame.locals`. */
  withLocals<R>(names: readonly string[], run: (slots: readonly number[]) => R): R {
    const first = this.locals.length;
    this.locals.push(...names);
    this.maxLocals = Math.max(this.maxLocals, this.locals.length);
    const result = run(names.map((_, i) => first + i));
    this.locals.length = first;
    return result;
  }

  ident(e: Ast.IdentExpr): Code {
    if (e.resolved) return this.compileDeclared(e.resolved);
    const local = this.locals.lastIndexOf(e.name);
    return local >= 0 ? compileLocal(local) : this.compileVariable(e.name.replace(/^\./, ''));
  }

  private compileDeclared(name: string): Code {
    const constant = this.env.isVariable(name) ? undefined : this.env.constants.get(name);
    return constant ? () => constant.value : this.compileVariable(name);
  }

  private compileVariable(name: string): Code {
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
    if (e.resolved) return this.compileDeclared(e.resolved);
    const operand = this.compile(e.operand);
    const field = e.field;
    if (e.operand.type && isOptional(e.operand.type)) {
      const get = compileOptionalField(operand, field);
      return e.test ? f => (get(f) as Optional).value !== undefined : get;
    }
    return e.test ? compileHas(operand, field) : compileField(operand, field);
  }

  /** Compiles a list. It costs 10 units at every evaluation, even if it is constant and created only once. */
  list(e: Ast.ListExpr): Code {
    const items = e.items.map(i => this.compile(i));
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

  /** Compiles a map. It costs 30 units. The last of equal keys wins. */
  map(e: Ast.MapExpr): Code {
    const entries = e.entries.map(x => ({
      key: this.compile(x.key),
      value: this.compile(x.value),
      optional: x.optional,
    }));
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

  /** Compiles `cel.bind`, `optMap` and `optFlatMap`, which evaluate their body with one more local variable. */
  bind(e: Ast.BindExpr): Code {
    const init = this.compile(e.init);
    return this.withLocals([e.name], ([slot]) => {
      const body = this.compile(e.body);
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
        if (!(v instanceof Optional)) return fail(`no such overload: hasValue(${typeNameOf(v)})`);
        if (v.value === undefined) return Optional.none;
        f.locals[at] = v.value;
        return map ? new Optional(body(f)) : body(f);
      };
    });
  }

  /**
   * Compiles a call. Throws CelError for a constant pattern that is not a regular expression: upstream reports it
   * before the evaluation.
   */
  call(e: Ast.CallExpr): Code {
    const compileOperator = e.target ? undefined : this.compileOperator(e);
    if (compileOperator) return compileOperator;
    const parts = (e.target && !e.qualified ? [e.target, ...e.args] : [...e.args]) as Ast.Expr[];
    const args = parts.map(a => this.compile(a));
    if (e.target && parts.length === 2 && (e.fn === 'or' || e.fn === 'orValue'))
      return compileAlternative(args[0]!, args[1]!, e.fn === 'orValue');
    const overloads = e.overloads ?? [];
    const code = dispatch(
      e.qualified ?? e.fn,
      overloads,
      args,
      parts.map(p => p.type),
    );
    const only = parts.length === 1 && !e.target && FOLDED.has(e.fn) ? this.valueOf(parts[0]!) : undefined;
    if (only !== undefined) {
      const value = code(unlimitedFrame());
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

  private compileOperator(e: Ast.CallExpr): Code | undefined {
    if (e.fn === '_&&_' || e.fn === '_||_')
      return compileLogic(
        e.args.map(a => this.compile(a)),
        e.fn === '_||_',
      );
    if (e.fn === '_?._')
      return compileOptionalField(this.compile(e.args[0]!), String((e.args[1] as { value?: Value }).value));
    const binary = BINARY.get(e.fn);
    if (binary && e.args.length === 2) return binary(this.compile(e.args[0]!), this.compile(e.args[1]!));
    if (e.fn === '_?_:_') {
      const [c, yes, no] = e.args.map(a => this.compile(a)) as [Code, Code, Code];
      return f => {
        f.cost++;
        const v = c(f);
        return v === true ? yes(f) : v === false ? no(f) : noOverload();
      };
    }
    if (e.fn === '!_') {
      const a = this.compile(e.args[0]!);
      return f => {
        f.charge(1);
        const v = a(f);
        return typeof v === 'boolean' ? !v : noOverload();
      };
    }
    if (e.fn === '-_') {
      const a = this.compile(e.args[0]!);
      return f => {
        f.charge(1);
        return negate(a(f));
      };
    }
    return undefined;
  }
}

/**
 * Compiles `a.or(b)` and, with `unwraps`, `a.orValue(b)`. The alternative is only evaluated for an empty optional. If
 * `a` is not an optional, which is possible only in an untyped expression, it is the result.
 */
const compileAlternative =
  (value: Code, alternative: Code, unwraps: boolean): Code =>
  f => {
    f.charge(1);
    const v = value(f);
    if (!(v instanceof Optional)) return v;
    if (v.value === undefined) return alternative(f);
    return unwraps ? v.value : v;
  };

function compileLocal(at: number): Code {
  return f => {
    f.cost++;
    return f.locals[at]!;
  };
}
