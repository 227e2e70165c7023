/** The static estimate: lowest and highest cost of an expression, after upstream's model, with sizes bounded by the schema. */
import type { CallExpr, ComprehensionExpr, Expr } from './ast.js';
import type { CostRule } from './declarations.js';
import type { SchemaType } from './schema.js';

/** An estimate. */
export interface CostRange {
  readonly min: number;
  readonly max: number;
}

/** The schemas of variables, for the sizes of what is read through them. */
export type SizeHints = Readonly<Record<string, SchemaType>>;

/** Upstream's limits: of one expression, and of all expressions of a schema. */
export const EXPRESSION_COST_LIMIT = 10_000_000;
export const SCHEMA_COST_LIMIT = 100_000_000;
/** Upstream's run-time limits: of one evaluation, and of all evaluations of a request. */
export const CALL_BUDGET = 1_000_000;
export const REQUEST_BUDGET = 10_000_000;

/** What an estimate over its limit is told, in upstream's words. */
export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Sizes without any bound are as large as an integer can be. */
const UNBOUNDED = 2 ** 64;

interface Sized extends CostRange {
  /** Bounds of the value's size, when it is one with a size. */
  readonly size?: CostRange;
  /** The schema of the value, when it is read through a variable. */
  readonly schema?: SchemaType;
}

/** Estimates a checked tree. */
export function estimate(expr: Expr, hints: SizeHints = {}): CostRange {
  const { min, max } = new Estimator(hints).visit(expr);
  return { min: Math.min(min, UNBOUNDED), max: Math.min(max, UNBOUNDED) };
}

const plus = (a: CostRange, b: CostRange): CostRange => ({ min: a.min + b.min, max: a.max + b.max });
const times = (a: CostRange, b: CostRange): CostRange => ({ min: a.min * b.min, max: a.max * b.max });
const scaled = (a: CostRange, factor: number): CostRange => ({ min: Math.ceil(a.min * factor), max: Math.ceil(a.max * factor) });
const union = (a: CostRange, b: CostRange): CostRange => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
const flat = (n: number): CostRange => ({ min: n, max: n });

class Estimator {
  private readonly locals: Map<string, Sized>[] = [];
  constructor(private readonly hints: SizeHints) {}

  visit(e: Expr): Sized {
    switch (e.is) {
      case 'const': {
        const n = typeof e.value === 'string' || e.value instanceof Uint8Array ? e.value.length : 1;
        return { min: 0, max: 0, size: flat(n) };
      }
      case 'ident': {
        const known = this.local(e.name);
        const schema = known?.schema ?? (known ? undefined : Object.hasOwn(this.hints, e.name) ? this.hints[e.name] : undefined);
        return { min: 1, max: 1, schema, size: known?.size };
      }
      case 'select': {
        if (e.resolved) return { min: 1, max: 1 };
        const operand = this.visit(e.operand);
        const schema = operand.schema?.fields?.get(e.field) ?? (operand.schema?.fields ? undefined : operand.schema?.items);
        return { ...plus(operand, flat(1)), schema: e.test ? undefined : schema };
      }
      case 'list': {
        const items = e.items.map(i => this.visit(i));
        const schema = items.length === 1 ? items[0]!.schema : undefined;
        const sum = items.reduce<CostRange>(plus, flat(10));
        return {
          ...sum,
          size: { min: e.items.length - e.optional.size, max: e.items.length },
          schema: schema && { ...schema, items: schema, maxSize: 1, fields: undefined },
        };
      }
      case 'map':
        return {
          ...e.entries.reduce<CostRange>((sum, x) => plus(sum, plus(this.visit(x.key), this.visit(x.value))), flat(30)),
          size: flat(e.entries.length),
        };
      case 'struct':
        return e.fields.reduce<CostRange>((sum, f) => plus(sum, this.visit(f.value)), flat(40));
      case 'loop':
        return this.loop(e);
      case 'bind': {
        const init = this.visit(e.init);
        const body = this.within(new Map([[e.name, init]]), () => this.visit(e.body));
        return { ...plus(init, body), size: body.size, schema: body.schema };
      }
      case 'call':
        return this.call(e);
    }
  }

  private local(name: string): Sized | undefined {
    return this.locals.findLast(scope => scope.has(name))?.get(name);
  }

  private within<R>(scope: Map<string, Sized>, run: () => R): R {
    this.locals.push(scope);
    const result = run();
    this.locals.pop();
    return result;
  }

  private sizeOf(e: Expr, s: Sized): CostRange {
    if (s.size) return s.size;
    if (s.schema) return { min: 0, max: s.schema.maxSize };
    const kind = e.type?.kind;
    return kind === 'string' || kind === 'bytes' || kind === 'list' || kind === 'map' || kind === 'dyn' || kind === undefined
      ? { min: 0, max: UNBOUNDED }
      : flat(1);
  }

  private loop(e: ComprehensionExpr): Sized {
    const range = this.visit(e.range);
    const size = this.sizeOf(e.range, range);
    const item: Sized = { ...flat(1), schema: range.schema?.items };
    const isList = e.range.type?.kind === 'list';
    const scope = new Map<string, Sized>();
    if (e.vars.length === 2) scope.set(e.vars[0]!, flat(1)).set(e.vars[1]!, item);
    else
      scope.set(
        e.vars[0]!,
        isList || e.range.type?.kind === 'dyn'
          ? item
          : { ...flat(1), size: e.range.type?.kind === 'map' ? { min: 0, max: UNBOUNDED } : undefined, schema: undefined },
      );
    if (e.vars.length === 1 && e.range.type?.kind === 'map')
      scope.set(e.vars[0]!, { ...flat(1), size: { min: 0, max: 3 * 1024 * 1024 } });
    return this.within(scope, () => {
      const body = this.visit(e.body);
      const filter = e.filter ? this.visit(e.filter) : flat(0);
      const step = stepCost(e.kind, body, filter, e.filter !== undefined);
      const fixed = e.kind === 'all' || e.kind === 'exists' ? 1 : e.kind === 'exists_one' ? 2 : 11;
      const total = plus(plus(range, flat(fixed)), times(size, step));
      const keeps = e.kind === 'filter' ? range.schema : undefined;
      const counted = e.kind === 'filter' || e.filter ? { min: 0, max: size.max } : size;
      return {
        ...total,
        size: fixed === 11 ? counted : undefined,
        schema: keeps ?? (fixed === 11 && body.schema ? { ...body.schema, items: body.schema, fields: undefined } : undefined),
      };
    });
  }

  private call(e: CallExpr): Sized {
    const parts = e.target && !e.qualified ? [e.target, ...e.args] : e.args;
    const args = parts.map(a => this.visit(a));
    const sum = args.reduce<CostRange>(plus, flat(0));
    if (e.fn === '_&&_' || e.fn === '_||_') return { min: args[0]!.min, max: sum.max };
    if (e.fn === '_?_:_') {
      const [c, a, b] = args as [Sized, Sized, Sized];
      return { ...plus(c, union(a, b)), size: union(this.sizeOf(parts[1]!, a), this.sizeOf(parts[2]!, b)) };
    }
    const sizes = parts.map((p, i) => this.sizeOf(p, args[i]!));
    const own = functionCost(e, sizes);
    const schema =
      e.fn === '_[_]' || e.fn === '_[?_]'
        ? args[0]?.schema?.items
        : e.fn === '_?._' && parts[1]!.is === 'const'
          ? args[0]?.schema?.fields?.get(String(parts[1]!.value))
          : undefined;
    return { ...plus(sum, own), schema, size: resultSize(e, sizes) };
  }
}

function stepCost(kind: ComprehensionExpr['kind'], body: CostRange, filter: CostRange, filtered: boolean): CostRange {
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
      const append = plus(body, flat(12));
      return filtered ? plus(filter, { min: 1, max: append.max }) : append;
    }
  }
}

const TRAVERSE = 0.1;

function functionCost(e: CallExpr, sizes: readonly CostRange[]): CostRange {
  const [a, b] = sizes as [CostRange, CostRange];
  const kind = e.args[0]?.type?.kind;
  if (e.fn === '@in') return plus(flat(1), e.args[1]?.type?.kind === 'map' ? flat(0) : b);
  if (e.fn === '_+_') return kind === 'string' || kind === 'bytes' ? plus(flat(1), scaled(plus(a, b), TRAVERSE)) : flat(1);
  if (/^_(==|!=|<|<=|>|>=)_$/.test(e.fn) && sizes.length === 2) {
    return plus(flat(1), scaled({ min: 0, max: Math.min(a.max, b.max) === 1 ? 0 : Math.min(a.max, b.max) }, TRAVERSE));
  }
  const rule = e.overloads?.find(o => o.cost)?.cost;
  return rule ? plus(flat(1), ruleCost(rule, sizes)) : flat(1);
}

function ruleCost(rule: CostRule, sizes: readonly CostRange[]): CostRange {
  const a = sizes[0] ?? flat(1);
  const b = sizes[1] ?? flat(1);
  switch (rule) {
    case 'traverse':
    case 'traverse2':
    case 'concat':
    case 'compare':
      return scaled(a, TRAVERSE);
    case 'contains':
      return times(scaled(a, TRAVERSE), scaled(b, TRAVERSE));
    case 'regex':
      return times(scaled(plus(a, flat(1)), TRAVERSE), scaled(b, 0.25));
    case 'pairs':
      return times(a, b);
    case 'sort':
      return { min: a.min, max: a.max * Math.max(1, Math.log2(a.max + 1)) };
    case 'authorizer':
      return flat(350_000);
  }
}

function resultSize(e: CallExpr, sizes: readonly CostRange[]): CostRange | undefined {
  switch (e.fn) {
    case '_+_':
      return plus(sizes[0]!, sizes[1]!);
    case 'lowerAscii':
    case 'upperAscii':
    case 'trim':
    case 'substring':
    case 'split':
    case 'find':
    case 'findAll':
    case 'string':
    case 'bytes':
    case 'dyn':
    case 'slice':
    case 'sort':
    case 'reverse':
    case 'distinct':
      return { min: 0, max: sizes[0]!.max };
    case 'replace':
      return { min: 0, max: (sizes[0]!.max + 1) * Math.max(1, sizes[2]?.max ?? 1) };
    default:
      return undefined;
  }
}
