/** Cost limits, how an excess is worded, and the sum over all rules of a schema. */

/** An estimate. */
export interface CostRange {
  readonly min: number;
  readonly max: number;
}

/** Upstream's limits: of one expression, and of all expressions of a schema. */
export const EXPRESSION_COST_LIMIT = 10_000_000;
export const SCHEMA_COST_LIMIT = 100_000_000;
/** Upstream's run-time limits: of one evaluation, and of all evaluations of a request. */
export const CALL_BUDGET = 1_000_000;
export const REQUEST_BUDGET = 10_000_000;

/** Sizes and costs without a bound are as large as an integer can be. */
export const UNBOUNDED = 2 ** 64;
/** Request bodies are bounded; what a schema leaves open is bounded by that. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** What an estimate over its limit is told, in upstream's words. */
export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/**
 * How often a part of a schema can occur in a request: so often as its parents do, times its own bound; `undefined`
 * without one.
 */
export const cardinality = (parent: number | undefined, bound: number | undefined): number | undefined =>
  parent === undefined || bound === undefined ? undefined : Math.min(parent * bound, UNBOUNDED);

/** How often a part can occur whose schema and its parents' set no bound, by its smallest JSON. */
export const unboundedCardinality = (minBytes: number): number => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1));

/** A refusal of a schema for its costs; no path means the schema as a whole. */
export interface CostViolation {
  readonly path?: string;
  readonly message: string;
}

/** How many rules are named when only their sum is too much. */
const NAMED = 4;

/** Adds up the expressions of one schema. */
export class SchemaCost {
  total = 0;
  private readonly observed: { readonly path: string; readonly cost: number }[] = [];

  /**
   * Adds one expression, evaluated `times` a request. Answers what is to be said of it alone; `what` is `rule` or
   * `messageExpression`.
   */
  observe(path: string, what: 'rule' | 'messageExpression', max: number, times: number): CostViolation | undefined {
    const cost = Math.min(max * times, UNBOUNDED);
    this.total = Math.min(this.total + cost, UNBOUNDED);
    this.observed.push({ path, cost });
    return cost > EXPRESSION_COST_LIMIT
      ? { path, message: costMessage(`estimated ${what} cost`, cost, EXPRESSION_COST_LIMIT) }
      : undefined;
  }

  /** What is to be said of the sum: the most expensive expressions, then the schema. */
  violations(): readonly CostViolation[] {
    if (this.total <= SCHEMA_COST_LIMIT) return [];
    const worst = [...this.observed].sort((a, b) => b.cost - a.cost).slice(0, NAMED);
    return [
      ...worst.map(({ path }) => ({
        path,
        message: 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      })),
      {
        message: costMessage(
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
          this.total,
          SCHEMA_COST_LIMIT,
        ),
      },
    ];
  }
}
