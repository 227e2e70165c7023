import { isDeepStrictEqual } from 'node:util';
import type { SchemaRule, StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import { type Violation, VIOLATIONS_TOLD, type ViolationType } from '../../model/refusal.js';
import type { Program, SchemaType } from '../../cel/index.js';
import { engine } from './engine.js';
import { compiledRule, fieldPathNames } from './ruleText.js';
import { isRec, propertyOf, valuesOf } from './prune.js';
import { correlated, memberOf, WHOLE_OBJECT } from './validate.js';

/** Asks the rules of a schema about an object; what an update left as it was is told to `warn` instead. */
export type Rule = (value: Json, old: Json | undefined, warn: (text: string) => void) => Violation[];

/** Longest text of a message expression; upstream's bound. */
const MESSAGE_BYTES = 5 * 1024;

interface Asked {
  readonly source: SchemaRule;
  readonly program: Program;
  readonly usesOld: boolean;
  readonly message?: Program;
}

/** A schema with rules in it or below it. */
interface Node {
  readonly schema: StructuralSchema;
  readonly type: SchemaType | undefined;
  readonly rules: readonly Asked[];
  readonly items?: Node;
  readonly values?: Node;
  readonly properties: ReadonlyMap<string, Node>;
}

/** The state of one evaluation. */
interface Run {
  readonly found: Violation[];
  readonly warn: (text: string) => void;
  budget: number;
}

function asked(schema: StructuralSchema, type: SchemaType | undefined): Asked[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0 || !type) return [];
  const { createEnvironment, optionalType, validationOf, widestLibraries } = engine().cel;
  const base = createEnvironment({
    libraries: widestLibraries(),
    validation: validationOf(),
    variables: { self: type.type },
  });
  return rules.flatMap(source => {
    const old = source.optionalOldSelf ? optionalType(type.type) : type.type;
    const env = base.extend({ oldSelf: old });
    const { compiled, usesOld } = compiledRule(base, env, source.rule);
    if (!compiled.program) return [];
    const message = source.messageExpression ? env.compile(source.messageExpression).program : undefined;
    return [{ source, program: compiled.program, usesOld, ...(message ? { message } : {}) }];
  });
}

/** Compiles the rules of a schema and of all below it; undefined where there are none. */
function nodeOf(schema: StructuralSchema, root: boolean): Node | undefined {
  const values = valuesOf(schema);
  const properties = new Map<string, Node>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const below = nodeOf(property, false);
    if (below) properties.set(name, below);
  }
  const items = schema.items && nodeOf(schema.items, false);
  const mapped = values && nodeOf(values, false);
  const own = schema['x-kubernetes-validations']?.length ?? 0;
  if (own === 0 && properties.size === 0 && !items && !mapped) return undefined;
  const type = own > 0 ? engine().cel.schemaType(schema, { root, name: 'selfType' }) : undefined;
  return {
    schema,
    type,
    rules: asked(schema, type),
    properties,
    ...(items ? { items } : {}),
    ...(mapped ? { values: mapped } : {}),
  };
}

/** The compiled rules of a schema, of a whole object or of a part of one; undefined where it has none. */
export function rulesOf(schema: StructuralSchema, wholeObject = true): Rule | undefined {
  const root = nodeOf(schema, wholeObject);
  if (!root) return undefined;
  return (value, old, warn) => {
    const run: Run = { found: [], warn, budget: engine().cel.REQUEST_BUDGET };
    visit(root, value, old, '', run);
    return run.found;
  };
}

function visit(node: Node, value: Json, old: Json | undefined, path: string, run: Run): void {
  if (value === null || run.budget < 0 || run.found.length > VIOLATIONS_TOLD) return;
  if (node.rules.length > 0) ask(node, value, old, path, run);
  if (Array.isArray(value) && node.items) {
    const before = correlated(old, node.schema);
    for (const [i, item] of value.entries()) visit(node.items, item, before(item), `${path}[${i}]`, run);
  } else if (isRec(value)) visitMembers(node, value, old, path, run);
}

function visitMembers(node: Node, value: { [key: string]: Json }, old: Json | undefined, path: string, run: Run): void {
  const before = node.schema['x-kubernetes-map-type'] === 'atomic' ? undefined : old;
  for (const [name, below] of node.properties)
    if (Object.hasOwn(value, name))
      visit(below, value[name]!, memberOf(before, name), path ? `${path}.${name}` : name, run);
  if (!node.values) return;
  for (const key of Object.keys(value))
    if (!propertyOf(node.schema, key)) visit(node.values, value[key]!, memberOf(before, key), `${path}[${key}]`, run);
}

function ask(node: Node, value: Json, old: Json | undefined, path: string, run: Run): void {
  const unchanged = old !== undefined && isDeepStrictEqual(value, old);
  const type = node.type!;
  for (const rule of node.rules) {
    if (rule.usesOld && old === undefined && !rule.source.optionalOldSelf) continue;
    const variables = new Variables(type, value, old, rule.source.optionalOldSelf === true);
    const violation = judge(rule, node.schema, variables, path, run);
    if (!violation) continue;
    // A value that the update did not touch may go on breaking a rule that came after it.
    if (unchanged && !rule.usesOld) run.warn(`${violation.field}: ${violation.message}`);
    else run.found.push(violation);
    if (run.budget < 0) return;
  }
}

/** What a rule may name, viewed when it does. */
class Variables {
  constructor(type: SchemaType, value: Json, old: Json | undefined, optional: boolean) {
    const { Optional } = engine().cel;
    const view = (data: Json | undefined) => (data === undefined || data === null ? null : type.view(data));
    const define = (name: string, get: () => unknown): unknown =>
      Object.defineProperty(this, name, { get, enumerable: true });
    define('self', () => view(value));
    define('oldSelf', () => (optional ? (old == null ? Optional.none : new Optional(view(old))) : view(old)));
  }
  readonly [name: string]: unknown;
}

const violationOf = (reason: ViolationType, field: string, schema: StructuralSchema, text: string): Violation => {
  const shown = JSON.stringify(schema.type ?? '');
  const messages: Partial<Record<ViolationType, string>> = {
    FieldValueForbidden: `Forbidden: ${text}`,
    FieldValueRequired: `Required value: ${text}`,
    FieldValueDuplicate: `Duplicate value: ${shown}`,
  };
  return { reason, field: field || WHOLE_OBJECT, message: messages[reason] ?? `Invalid value: ${shown}: ${text}` };
};

function judge(
  rule: Asked,
  schema: StructuralSchema,
  variables: Variables,
  path: string,
  run: Run,
): Violation | undefined {
  const { source } = rule;
  const { CALL_BUDGET, evaluationMessage } = engine().cel;
  const outcome = rule.program.evaluate(variables, { budget: Math.min(CALL_BUDGET, run.budget) });
  run.budget -= outcome.cost;
  if (outcome.error !== undefined) {
    const text = evaluationMessage(outcome.error);
    const named = source.message?.trim() || source.rule.trim();
    const joined = outcome.exceeded
      ? `${text} for rule: ${named}`
      : outcome.error.startsWith('no such overload')
        ? `${text} for rule: ${named}`
        : `${text} evaluating rule: ${named}`;
    if (outcome.exceeded) run.budget = -1;
    return violationOf('FieldValueInvalid', path, schema, joined);
  }
  if (outcome.value === true) return undefined;
  const field = source.fieldPath ? fieldBelow(path, source.fieldPath, schema) : path;
  return violationOf(
    (source.reason as ViolationType | undefined) ?? 'FieldValueInvalid',
    field,
    schema,
    messageOf(rule, variables, run),
  );
}

/**
 * The text of a broken rule: what its message expression gives if that is a line of text, else its message, else the
 * rule itself.
 */
function messageOf(rule: Asked, variables: Variables, run: Run): string {
  const { message, rule: text } = rule.source;
  const standing = message?.trim() || `failed rule: ${text.trim()}`;
  if (!rule.message) return standing;
  const outcome = rule.message.evaluate(variables, {
    budget: Math.min(engine().cel.CALL_BUDGET, Math.max(0, run.budget)),
  });
  run.budget -= outcome.cost;
  const said = typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return said === '' || /[\r\n]/.test(said) || Buffer.byteLength(said) > MESSAGE_BYTES ? standing : said;
}

function fieldBelow(path: string, fieldPath: string, schema: StructuralSchema): string {
  const names = fieldPathNames(fieldPath, schema) ?? [];
  return names.reduce((at, { name, key }) => (key ? `${at}[${name}]` : at ? `${at}.${name}` : name), path);
}
