/**
 * The static estimate: lowest and highest cost of an expression, after upstream's model, with sizes bounded by the
 * schema.
 */
import * as Ast from './ast.js';
import type { CostRange } from './cost.js';
import { codePoints } from './ops.js';
import { type CallShape, estimateCall, flat, plus, scaled, sum, TEXT_FACTOR, times, union, UNKNOWN } from './ranges.js';
import type { SchemaType } from './schema.js';
import type { Type } from './types.js';

/** The schemas of variables, for the sizes of what is read through them. */
export type SizeHints = Readonly<Record<string, SchemaType>>;

/** What the schema says of a place in the data: how large it can be, and what it is made of. */
type Place = Pick<SchemaType, 'maxSize' | 'items' | 'fields'>;

/** What is known of an expression. `size` wins over the place's. */
interface Estimate {
  readonly cost: CostRange;
  readonly size?: CostRange;
  readonly place?: Place;
}

/** Estimates a checked tree. */
export const estimate = (expr: Ast.Expr, hints: SizeHints = {}): CostRange => new Estimator(hints).visit(expr).cost;

/** Keys of maps are texts the schema sets no bound to; upstream's declaration gives them no size. */
const KEYS: Place = { maxSize: 0 };

const SCALARS: ReadonlySet<Type['kind']> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const isScalar = (t: Type | undefined): boolean =>
  t !== undefined && (t.kind === 'opaque' && t.name === 'optional_type' ? isScalar(t.params[0]) : SCALARS.has(t.kind));

class Estimator implements Ast.Visitor<Estimate> {
  private readonly locals: Map<string, Estimate>[] = [];
  /**
   * Upstream finds places by path and drops the first name of one: names of other things lead to the place of the
   * rule's `self`.
   */
  private readonly root: Place | undefined;
  constructor(private readonly hints: SizeHints) {
    this.root = Object.hasOwn(hints, 'self') ? hints.self : undefined;
  }

  visit(e: Ast.Expr): Estimate {
    return Ast.visit(e, this);
  }

  constant(): Estimate {
    return { cost: flat(0) };
  }

  list(e: Ast.ListExpr): Estimate {
    return { cost: plus(this.costs(e.items), flat(10)) };
  }

  map(e: Ast.MapExpr): Estimate {
    return { cost: plus(this.costs(e.entries.flatMap(x => [x.key, x.value])), flat(30)) };
  }

  struct(e: Ast.StructExpr): Estimate {
    return { cost: plus(this.costs(e.fields.map(f => f.value)), flat(40)) };
  }

  private costs(parts: readonly Ast.Expr[]): CostRange {
    return sum(parts.map(p => this.visit(p).cost));
  }

  ident({ name }: Ast.IdentExpr): Estimate {
    const known = this.locals.findLast(scope => scope.has(name))?.get(name);
    return known ?? { cost: flat(1), place: Object.hasOwn(this.hints, name) ? this.hints[name] : this.root };
  }

  select(e: Ast.SelectExpr): Estimate {
    if (e.resolved) return { cost: flat(1), place: this.root };
    const operand = this.visit(e.operand);
    // Testing for a field is free.
    if (e.test) return { cost: operand.cost };
    const kind = e.operand.type?.kind;
    const own = kind === 'map' || kind === 'object' || kind === 'param' ? 1 : 0;
    return { cost: plus(operand.cost, flat(own)), place: operand.place?.fields?.get(e.field) };
  }

  /** The size of a value, `UNKNOWN` where nothing bounds it. */
  private sizeOf(e: Ast.Expr, known: Estimate): CostRange {
    if (known.size) return known.size;
    const literal = literalSize(e);
    if (literal !== undefined) return flat(literal);
    if (known.place) return { min: 0, max: known.place.maxSize };
    return isScalar(e.type) ? flat(1) : UNKNOWN;
  }

  private within<R>(scope: Map<string, Estimate>, run: () => R): R {
    this.locals.push(scope);
    const result = run();
    this.locals.pop();
    return result;
  }

  loop(e: Ast.ComprehensionExpr): Estimate {
    const range = this.visit(e.range);
    const count = this.sizeOf(e.range, range);
    const kind = e.range.type?.kind;
    const local = (place: Place | undefined): Estimate => ({ cost: flat(1), place });
    const item = local(range.place ? range.place.items : this.root);
    const key = local(range.place ? KEYS : this.root);
    const scope = new Map<string, Estimate>();
    if (e.vars.length === 2) scope.set(e.vars[0]!, key).set(e.vars[1]!, item);
    else scope.set(e.vars[0]!, kind === 'list' ? item : kind === 'map' ? key : local(undefined));
    return this.within(scope, () => {
      const body = this.visit(e.body);
      const filter = e.filter ? this.visit(e.filter).cost : undefined;
      const cost = plus(plus(range.cost, flat(FIXED[e.kind])), times(count, stepCost(e.kind, body.cost, filter)));
      return { cost, size: count };
    });
  }

  /** A binding is a loop over nothing to upstream; the forms for optionals are conditions around one. */
  bind(e: Ast.BindExpr): Estimate {
    const init = this.visit(e.init);
    const local: Estimate = { cost: flat(1), place: init.place ?? this.root, size: init.size };
    const body = this.within(new Map([[e.name, local]]), () => this.visit(e.body));
    if (e.kind === 'bind') return { ...body, cost: plus(plus(init.cost, flat(10)), body.cost) };
    const present = plus(plus(init.cost, flat(11)), plus(body.cost, flat(e.kind === 'optMap' ? 1 : 0)));
    return { cost: plus(plus(init.cost, flat(1)), union(present, flat(1))) };
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
        return { cost: plus(args, flat(1)), size: sizes()[0] };
      case '_[_]':
        return { cost: plus(args, flat(1)), place: known[0]!.place ? known[0]!.place.items : this.root };
      case '_+_': {
        const [a, b] = sizes() as [CostRange, CostRange];
        return { cost: plus(args, addition(e, plus(a, b))), size: plus(a, b) };
      }
      case '@in': {
        const list = parts[1]!.type?.kind !== 'map';
        return { cost: plus(args, list ? sizes()[1]! : flat(1)) };
      }
    }
    if (/^_(==|!=|<|<=|>|>=)_$/.test(e.fn)) {
      const [a, b] = sizes() as [CostRange, CostRange];
      // Values of libraries compare in one step.
      const opaque = parts[0]!.type?.kind === 'opaque' && parts[0]!.type.name !== 'optional_type';
      return { cost: plus(args, opaque ? flat(1) : comparison(e, Math.min(a.max, b.max))) };
    }
    // A conversion that may turn out to copy text is taken for one.
    const kinds = (e.overloads ?? []).map(o => o.args[0]?.kind);
    const copied = e.fn === 'string' ? 'bytes' : 'string';
    const overload = kinds.includes(copied) ? `${e.fn}(${copied})` : e.fn;
    const own = estimateCall(e.qualified ?? e.fn, overload, this.shape(e, parts, known, sizes()));
    return { cost: plus(args, own.cost), size: own.size };
  }

  private shape(
    e: Ast.CallExpr,
    parts: readonly Ast.Expr[],
    known: readonly Estimate[],
    sizes: readonly CostRange[],
  ): CallShape {
    const target = parts[0];
    const list = target?.type?.kind === 'list' ? target.type : undefined;
    const place = known[0]?.place?.items;
    const items = place ? { min: 0, max: place.maxSize } : UNKNOWN;
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

/** Whether some overload the values may choose works on text, and whether some does not. */
function textual(e: Ast.CallExpr): { some: boolean; all: boolean } {
  const kinds = (e.overloads ?? []).map(o => o.args[0]!.kind === 'string' || o.args[0]!.kind === 'bytes');
  return { some: kinds.includes(true), all: !kinds.includes(false) };
}

/** Texts are copied, other things added in one step; a list's concatenation is a view. */
function addition(e: Ast.CallExpr, size: CostRange): CostRange {
  const { some, all } = textual(e);
  const copied = scaled(size, TEXT_FACTOR);
  return !some ? flat(1) : all ? copied : union(copied, flat(1));
}

/** Equality looks at sizes whatever the types, order only at those of texts. */
function comparison(e: Ast.CallExpr, smaller: number): CostRange {
  const sized = scaled({ min: smaller > 0 ? 1 : 0, max: smaller }, TEXT_FACTOR);
  if (e.fn === '_==_' || e.fn === '_!=_') return sized;
  const { some, all } = textual(e);
  return !some ? flat(1) : all ? sized : union(sized, flat(1));
}

/** What a loop costs once: its result, and the aggregate it begins with. */
const FIXED: Readonly<Record<Ast.ComprehensionExpr['kind'], number>> = {
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
      const step = plus(body, flat(kind === 'map' || kind === 'transformList' ? 12 : 3));
      return filter ? plus(filter, { min: 1, max: step.max }) : step;
    }
  }
}
