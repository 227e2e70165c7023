/** Tables of expressions over a schema, each evaluated as a validation rule whose message shows the value. */
import { CALL_BUDGET, costMessage, EXPRESSION_COST_LIMIT } from './cost/cost.js';
import { createEnvironment, type Environment } from './environment.js';
import { schemaType, type Schema } from './schema/schema.js';
import type { Value } from './evaluate/values.js';
import { librariesOf, validationOf } from './versions.js';

/**
 * One table: expressions over a `self` of the schema. `self` is data, or JSON text. The defaults of the schema are
 * applied, as in the objects that rules see.
 */
export interface Table {
  readonly name?: string;
  readonly schema: Schema;
  readonly self: unknown;
  readonly cases: readonly { readonly expr: string; readonly result?: string }[];
}

/** Upstream's limit of a rule's message, in octets. */
const MESSAGE_LIMIT = 5 * 1024;

/** Evaluates a table and returns its results in order. `parseJson` must keep integers of 64 bits. */
export function runTable(table: Table, parseJson: (text: string) => unknown): string[] {
  const schema = schemaType(table.schema, { name: 'selfType' });
  if (!schema) throw new Error('the schema has no type that expressions can see');
  const env = createEnvironment({
    libraries: librariesOf(),
    validation: validationOf(),
    variables: { self: schema.type },
    sizes: { self: schema },
  });
  const data = typeof table.self === 'string' ? parseJson(table.self) : table.self;
  const self = schema.view(withDefaults(table.schema, data));
  return table.cases.map(c => normalizeResult(evaluateCase(env, c.expr, self)));
}

/** Data with the defaults of its schema, which also replace nulls that the schema does not allow. */
function withDefaults(schema: Schema, data: unknown): unknown {
  if (Array.isArray(data)) return schema.items ? data.map(item => withDefaults(schema.items!, item)) : data;
  if (typeof data !== 'object' || data === null) return data;
  const members = new Map<string, unknown>(Object.entries(data));
  const declared = new Map(Object.entries(schema.properties ?? {}));
  for (const [name, { default: value, nullable }] of declared) {
    const given = members.get(name);
    if (value !== undefined && (given === undefined || (given === null && !nullable))) members.set(name, value);
  }
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const [name, value] of members) {
    const of = declared.get(name) ?? others;
    if (of) members.set(name, withDefaults(of, value));
  }
  return Object.fromEntries(members);
}

/** Evaluates one expression as a validation rule; its value is printed by the rule's message expression. */
function evaluateCase(env: Environment, expr: string, self: Value): string {
  const rule = env.compile(`[dyn(${expr})].size() == 0`);
  if (!rule.program) return `compile: ${rule.errors.split('\n')[0]}`;
  const message = env.compile(`${JSON.stringify(`${expr.replaceAll('%', '%%')} => ‹%s›`)}.format([${expr}])`);
  // If rule and message both exceed the limit, the recorded tables hold the message's cost.
  for (const cost of [message.cost, rule.cost!])
    if (cost && cost.max > EXPRESSION_COST_LIMIT) return `cost: ${costExcess(cost.max)}`;
  const outcome = rule.program.evaluate({ self }, { budget: CALL_BUDGET });
  if (outcome.error !== undefined) return `error: ${evaluationMessage(outcome.error)}`;
  const text = message.program?.evaluate({ self }, { budget: CALL_BUDGET }).value;
  return typeof text === 'string' && !/[\n\r]/.test(text) && Buffer.byteLength(text) <= MESSAGE_LIMIT
    ? `= ${text.slice(expr.length + 5, -1)}`
    : 'a value';
}

const costExcess = (cost: number): string =>
  costMessage('estimated rule cost', cost, EXPRESSION_COST_LIMIT).replace(/ \(try.*/s, '');

/** An evaluation error in the server's words. */
export function evaluationMessage(error: string): string {
  if (error.startsWith('no such overload'))
    return `'${error}': call arguments did not match a supported operator, function or macro signature`;
  if (error.startsWith('operation cancelled'))
    return `'${error}': no further validation rules will be run due to call cost exceeds limit`;
  return error;
}

/** Removes details that may differ between correct implementations, as in the recorded tables. */
const normalizeResult = (result: string): string =>
  result
    .replace(/(\d{4}-\d\d-\d\d)T(?=\d)/g, '$1 T ')
    .replace(/(error during conversion from string):.*/, '$1')
    .replace(/(error parsing regexp):.*/, '$1');
