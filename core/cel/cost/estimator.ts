/** The static estimate: lowest and highest cost of an expression by upstream's model, with sizes from the schema. */
import * as Ast from '../syntax/ast.js';
import type { CostRange } from './cost.js';
import { codePoints } from '../evaluate/ops.js';
import {
  type CallShape,
  estimateCall,
  exactly,
  plus,
  scale,
  sum,
  TEXT_FACTOR,
  times,
  union,
  UNKNOWN_RANGE,
} from './ranges.js';
import type { SchemaType } from '../schema/schemaType.js';
import type { Type } from '../check/types.js';

/** The schemas of variables by name, which bound the sizes of their values. */
export type SizeHints = Readonly<Record<string, SchemaType>>;

/** The bounds that a schema sets to a value and its parts. */
type SchemaBounds = Pick<SchemaType, 'maxSize' | 'items' | 'fields'>;

/** The estimate of an expression. `size` takes precedence over the size in `bounds`. */
interface Estimate {
  readonly cost: CostRange;
  readonly size?: CostRange;
  readonly bounds?: SchemaBounds;
}

/** Estimates a checked tree. */
export const estimate = (expr: Ast.Expr, hints: SizeHints = {}): CostRange => new Estimator(hints).visit(expr).cost;

/** The bounds of map keys. No schema bounds them, and upstream declares them without a size. */
const KEY_BOUNDS: SchemaBounds = { maxSize: 0 };

const SCALARS: ReadonlySet<Type['kind']> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const isScalar = (t: Type | undefined): boolean =>
  t !== undefined && (t.kind === 'opaque' && t.name === 'optional_type' ? isScalar(t.params[0]) : SCALARS.has(t.kind));

class Estimator implements Ast.Visitor<Estimate> {
  private readonly locals: Map<string, Estimate>[] = [];
  /** The bounds of `self`. Upstream drops the first name of a path, so every other name gets these bounds too. */
  private readonly root: SchemaBounds | undefined;
  constructor(private readonly hints: SizeHints) {
    this.root = Object.hasOwn(hints, 'self') ? hints.self : undefined;
  }

  visit(e: Ast.Expr): Estimate {
    return Ast.visit(e, this);
  }

  constant(): Estimate {
    return { cost: exactly(0) };
  }

  list(e: Ast.ListExpr): Estimate {
    return { cost: plus(this.costs(e.items), exactly(10)) };
  }

  map(e: Ast.MapExpr): Estimate {
    return { cost: plus(this.costs(e.entries.flatMap(x => [x.key, x.value])), exactly(30)) };
  }

  struct(e: Ast.StructExpr): Estimate {
    return { cost: plus(this.costs(e.fields.map(f => f.value)), exactly(40)) };
  }

  private costs(parts: readonly Ast.Expr[]): CostRange {
    return sum(parts.map(p => this.visit(p).cost));
  }

  ident({ name }: Ast.IdentExpr): Estimate {
    const known = this.locals.findLast(scope => scope.has(name))?.get(name);
    return known ?? { cost: exactly(1), bounds: Object.hasOwn(this.hints, name) ? this.hints[name] : this.root };
  }

  select(e: Ast.SelectExpr): Estimate {
    if (e.resolved) return { cost: exactly(1), bounds: this.root };
    const operand = this.visit(e.operand);
    // The test of a field is free.
    if (e.test) return { cost: operand.cost };
    const kind = e.operand.type?.kind;
    const own = kind === 'map' || kind === 'object' || kind === 'param' ? 1 : 0;
    return { cost: plus(operand.cost, exactly(own)), bounds: operand.bounds?.fields?.get(e.field) };
  }

  /** The size of a value; `UNKNOWN_RANGE` if nothing bounds it. */
  private sizeOf(e: Ast.Expr, known: Estimate): CostRange {
    if (known.size) return known.size;
    const literal = literalSize(e);
    if (literal !== undefined) return exactly(literal);
    if (known.bounds) return { min: 0, max: known.bounds.maxSize };
    return isScalar(e.type) ? exactly(1) : UNKNOWN_RANGE;
  }

  private withScope<R>(scope: Map<string, Estimate>, run: () => R): R {
    this.locals.push(scope);
    const result = run();
    this.locals.pop();
    return result;
  }

  loop(e: Ast.ComprehensionExpr): Estimate {
    const range = this.visit(e.range);
    const count = this.sizeOf(e.range, range);
    const kind = e.range.type?.kind;
    const local = (bounds: SchemaBounds | undefined): Estimate => ({ cost: exactly(1), bounds: bounds });
    const item = local(range.bounds ? range.bounds.items : this.root);
    const key = local(range.bounds ? KEY_BOUNDS : this.root);
    const scope = new Map<string, Estimate>();
    if (e.vars.length === 2) scope.set(e.vars[0]!, key).set(e.vars[1]!, item);
    else scope.set(e.vars[0]!, kind === 'list' ? item : kind === 'map' ? key : local(undefined));
    return this.withScope(scope, () => {
      const body = this.visit(e.body);
      const filter = e.filter ? this.visit(e.filter).cost : undefined;
      const cost = plus(
        plus(range.cost, exactly(FIXED_COST[e.kind])),
        times(count, stepCost(e.kind, body.cost, filter)),
      );
      return { cost, size: count };
    });
  }

  /** Upstream expands a binding to a loop over an empty list, and the optional forms to a conditional around it. */
  bind(e: Ast.BindExpr): Estimate {
    const init = this.visit(e.init);
    const local: Estimate = { cost: exactly(1), bounds: init.bounds ?? this.root, size: init.size };
    const body = this.withScope(new Map([[e.name, local]]), () => this.visit(e.body));
    if (e.kind === 'bind') return { ...body, cost: plus(plus(init.cost, exactly(10)), body.cost) };
    const present = plus(plus(init.cost, exactly(11)), plus(body.cost, exactly(e.kind === 'optMap' ? 1 : 0)));
    return { cost: plus(plus(init.cost, exactly(1)), union(present, exactly(1))) };
  }

  call(e: Ast.CallExpr): Estimate {
    const parts = e.target && !e.qualified ? [e.target, ...e.args] : e.args;
    const known = parts.map(a => this.visit(a));
    const args = sum(known.map(k => k.cost));
    const sizes = () => parts.map((p, i) => this.sizeOf(p, known[i]!));
    switch (e.fn) {
      case '_&&_':
      case '_||_':
        return { cost: { min: known[0]!.cost.min, max: args.max } };
      case '_?_:_': {
        const [condition, yes, no] = known as [Estimate, Estimate, Estimate];
        const [, a, b] = sizes() as [CostRange, CostRange, CostRange];
        return { cost: plus(condition.cost, union(yes.cost, no.cost)), size: union(a, b) };
      }
      case 'dyn':
        return { cost: plus(args, exactly(1)), size: sizes()[0] };
      case '_[_]':
        return { cost: plus(args, exactly(1)), bounds: known[0]!.bounds ? known[0]!.bounds.items : this.root };
      case '_+_': {
        const [a, b] = sizes() as [CostRange, CostRange];
        return { cost: plus(args, additionCost(e, plus(a, b))), size: plus(a, b) };
      }
      case '@in': {
        const list = parts[1]!.type?.kind !== 'map';
        return { cost: plus(args, list ? sizes()[1]! : exactly(1)) };
      }
    }
    if (/^_(==|!=|<|<=|>|>=)_$/.test(e.fn)) {
      const [a, b] = sizes() as [CostRange, CostRange];
      return {
        cost: plus(args, isComparedAtOnce(parts[0]!.type) ? exactly(1) : comparisonCost(e, Math.min(a.max, b.max))),
      };
    }
    // A conversion that may copy text is estimated as if it does.
    const kinds = (e.overloads ?? []).map(o => o.args[0]?.kind);
    const copied = e.fn === 'string' ? 'bytes' : 'string';
    const fn = e.qualified ?? e.fn;
    const overload = kinds.includes(copied) ? `${fn}(${copied})` : fn;
    const own = estimateCall(fn, overload, this.callShape(e, parts, known, sizes()));
    return { cost: plus(args, own.cost), size: own.size };
  }

  /** The properties of a call that the rules of the estimate use: sizes, and constants among its arguments. */
  private callShape(
    e: Ast.CallExpr,
    parts: readonly Ast.Expr[],
    known: readonly Estimate[],
    sizes: readonly CostRange[],
  ): CallShape {
    const target = parts[0];
    const list = target?.type?.kind === 'list' ? target.type : undefined;
    const bounds = known[0]?.bounds?.items;
    const items = bounds ? { min: 0, max: bounds.maxSize } : UNKNOWN_RANGE;
    return {
      sizes,
      member: e.target !== undefined && !e.qualified,
      list: list && { items, text: list.of.kind === 'string' || list.of.kind === 'bytes' ? items : undefined },
      constant: i => {
        if (i < 0) return parts[1]?.type?.kind === 'string' ? 'text' : undefined;
        const arg = e.args[i];
        return arg?.is === 'const' ? arg.value : undefined;
      },
    };
  }
}

function literalSize(e: Ast.Expr): number | undefined {
  if (e.is === 'list') return e.items.length;
  if (e.is === 'map') return e.entries.length;
  if (e.is !== 'const') return undefined;
  return typeof e.value === 'string' ? codePoints(e.value) : e.value instanceof Uint8Array ? e.value.length : 1;
}

/** Whether some and whether all of the possible overloads work on strings or bytes. */
function textOverloads(e: Ast.CallExpr): { some: boolean; all: boolean } {
  const kinds = (e.overloads ?? []).map(o => o.args[0]!.kind === 'string' || o.args[0]!.kind === 'bytes');
  return { some: kinds.includes(true), all: !kinds.includes(false) };
}

/** Whether comparing values of a type costs 1. True for values that a library keeps parsed, except URLs. */
const isComparedAtOnce = (type: Type | undefined): boolean =>
  type?.kind === 'opaque' && type.name !== 'optional_type' && !type.name.endsWith('.URL');

/** Adding texts copies them; any other addition costs one. */
function additionCost(e: Ast.CallExpr, size: CostRange): CostRange {
  const { some, all } = textOverloads(e);
  const copied = scale(size, TEXT_FACTOR);
  return !some ? exactly(1) : all ? copied : union(copied, exactly(1));
}

/** Equality costs by size for all types, ordering only for texts. */
function comparisonCost(e: Ast.CallExpr, smaller: number): CostRange {
  const sized = scale({ min: smaller > 0 ? 1 : 0, max: smaller }, TEXT_FACTOR);
  if (e.fn === '_==_' || e.fn === '_!=_') return sized;
  const { some, all } = textOverloads(e);
  return !some ? exactly(1) : all ? sized : union(sized, exactly(1));
}

/** The cost of a loop without its steps: its result and its initial accumulator. */
const FIXED_COST: Readonly<Record<Ast.ComprehensionExpr['kind'], number>> = {
  all: 1,
  exists: 1,
  exists_one: 2,
  map: 11,
  filter: 11,
  transformList: 11,
  transformMap: 31,
  transformMapEntry: 31,
};

function stepCost(kind: Ast.ComprehensionExpr['kind'], body: CostRange, filter: CostRange | undefined): CostRange {
  switch (kind) {
    case 'all':
      return { min: 3, max: 3 + body.max };
    case 'exists':
      return { min: 4, max: 4 + body.max };
    case 'exists_one':
      return plus(body, { min: 1, max: 2 });
    case 'filter':
      return plus(body, { min: 1, max: 13 });
    default: {
      const step = plus(body, exactly(kind === 'map' || kind === 'transformList' ? 12 : 3));
      return filter ? plus(filter, { min: 1, max: step.max }) : step;
    }
  }
}
