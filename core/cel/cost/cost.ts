/** Cost limits, their error messages, and the total cost of the rules of a schema. */

import { goFixed } from '../evaluate/text.js';

/** An estimated cost or size. */
export interface CostRange {
  readonly min: number;
  readonly max: number;
}

/** Upstream's limit of the estimated cost of one expression. */
export const EXPRESSION_COST_LIMIT = 10_000_000;
/** Upstream's limit of the estimated cost of all expressions of a schema. */
export const SCHEMA_COST_LIMIT = 100_000_000;
/** Upstream's limit of the actual cost of one evaluation. */
export const CALL_BUDGET = 1_000_000;
/** Upstream's limit of the actual cost of all evaluations of a request. */
export const REQUEST_BUDGET = 10_000_000;

/** The largest size or cost; stands for unbounded ones. */
export const UNBOUNDED = 2 ** 64;
/** The largest request body that upstream assumes; it bounds the sizes that a schema leaves open. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** The error of an estimate over its limit, in upstream's words. */
export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${goFixed(factor, 6)}x` : `${goFixed(factor, 1)}x`;
  return (
    `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, ` +
    'and maxLength where arrays, maps, and strings are declared)'
  );
}

/**
 * How often a part of a schema can occur in a request: its parent's number times its own bound, if both are bounded.
 */
export const cardinality = (parent: number | undefined, bound: number | undefined): number | undefined =>
  parent === undefined || bound === undefined ? undefined : Math.min(parent * bound, UNBOUNDED);

/** How often an unbounded part of a schema can occur in a request, by the length of its shortest JSON. */
export const unboundedCardinality = (minBytes: number): number => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1));

/** A cost error; without a path, it concerns the schema as a whole. */
export interface CostViolation {
  readonly path?: string;
  readonly message: string;
}

/** How many rules are reported if the total exceeds the limit. */
const MAX_NAMED_RULES = 4;
/** The cost from which a rule is reported: a hundredth of the limit of the total. */
const NAMED_RULE_COST = SCHEMA_COST_LIMIT / 100;

/** Adds up the costs of the expressions of one schema. */
export class SchemaCost {
  total = 0;
  private readonly costly: { readonly path: string; readonly cost: number }[] = [];

  /** Adds an expression that is evaluated `times` per request. Returns an error if it alone exceeds the limit. */
  add(path: string, what: 'rule' | 'messageExpression', max: number, times: number): CostViolation | undefined {
    const cost = Math.min(max * times, UNBOUNDED);
    this.total = Math.min(this.total + cost, UNBOUNDED);
    if (cost >= NAMED_RULE_COST) this.costly.push({ path, cost });
    return cost > EXPRESSION_COST_LIMIT
      ? { path, message: costMessage(`estimated ${what} cost`, cost, EXPRESSION_COST_LIMIT) }
      : undefined;
  }

  /** The errors if the total exceeds its limit: the most expensive expressions, then the schema. */
  violations(): readonly CostViolation[] {
    if (this.total <= SCHEMA_COST_LIMIT) return [];
    const worst = [...this.costly].sort((a, b) => b.cost - a.cost).slice(0, MAX_NAMED_RULES);
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
