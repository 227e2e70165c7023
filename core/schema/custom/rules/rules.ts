import type { SchemaRule, StructuralSchema } from '../../../api/resource.js';
import type { Json } from '../../../model/object.js';
import { type Violation, MAX_VIOLATIONS, type ViolationType } from '../../../model/refusal.js';
import type { Program, SchemaType } from '../../../cel/index.js';
import { engine } from '../engine.js';
import { findFieldPath } from '../fieldPath.js';
import { compileError, compileRule, isBoolean, REASONS } from './ruleText.js';
import { isMembers } from '../../patch/members.js';
import { additionalSchema, propertySchema } from '../prune.js';
import { correlateItems, isUnchanged, memberOf, WHOLE_OBJECT } from '../validate.js';

/**
 * Evaluates the rules of a schema for an object. `warn` is called with violations by values that an update did not
 * change; without it, they are reported like other violations.
 */
export type RuleEvaluator = (value: Json, old: Json | undefined, warn?: (text: string) => void) => Violation[];

/** Upstream's limit of the result of a message expression. */
const MESSAGE_BYTES = 5 * 1024;

interface CompiledRule {
  readonly source: SchemaRule;
  /** Undefined if the rule does not compile. */
  readonly program: Program | undefined;
  /** The reason why the rule does not compile. */
  readonly error?: string;
  readonly usesOldSelf: boolean;
  readonly message?: Program;
}

/** The compiled rules of a schema and its nested ones. */
interface RuleNode {
  readonly schema: StructuralSchema;
  readonly type: SchemaType | undefined;
  readonly rules: readonly CompiledRule[];
  readonly items?: RuleNode;
  readonly values?: RuleNode;
  readonly properties: ReadonlyMap<string, RuleNode>;
}

/** The state of one evaluation. */
interface Evaluation {
  readonly found: Violation[];
  readonly warn: ((text: string) => void) | undefined;
  budget: number;
}

function compileOwnRules(schema: StructuralSchema, type: SchemaType | undefined, isNew: boolean): CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0 || !type) return [];
  const { createEnvironment, librariesOf, optionalType, validationOf, widestLibraries } = engine().cel;
  const base = createEnvironment({
    libraries: isNew ? librariesOf() : widestLibraries(),
    validation: validationOf(),
    variables: { self: type.type },
  });
  return rules.flatMap((source): CompiledRule[] => {
    // As in upstream, an empty rule is not evaluated; it is refused when the definition is validated.
    if (source.rule.trim() === '') return [];
    const old = source.optionalOldSelf ? optionalType(type.type) : type.type;
    const env = base.extend({ oldSelf: old });
    const { compiled, usesOldSelf } = compileRule(base, env, source.rule);
    if (!compiled.program) return [{ source, program: undefined, usesOldSelf, error: compileError(compiled) }];
    if (!isBoolean(compiled))
      return [{ source, program: undefined, usesOldSelf, error: 'cel expression must evaluate to a bool' }];
    const message = source.messageExpression ? env.compile(source.messageExpression).program : undefined;
    return [{ source, program: compiled.program, usesOldSelf, ...(message ? { message } : {}) }];
  });
}

type CompiledNodes = WeakMap<StructuralSchema, { readonly node: RuleNode | undefined }>;

/**
 * Compiled nodes, so that a check of a definition compiles its schemas once, although each default is validated with
 * its own schema.
 */
const compiledNodes: { readonly new: CompiledNodes; readonly stored: CompiledNodes } = {
  new: new WeakMap(),
  stored: new WeakMap(),
};

/** Compiles the rules of a schema that is not that of a whole object, or takes them from those compiled before. */
function compileNested(schema: StructuralSchema, isNew: boolean): RuleNode | undefined {
  const nodes = compiledNodes[isNew ? 'new' : 'stored'];
  const known = nodes.get(schema);
  if (known) return known.node;
  const node = compileNode(schema, false, isNew);
  nodes.set(schema, { node });
  return node;
}

/** Compiles the rules of a schema and its nested ones; undefined if there are none. */
function compileNode(schema: StructuralSchema, root: boolean, isNew: boolean): RuleNode | undefined {
  const values = additionalSchema(schema);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const below = compileNested(property, isNew);
    if (below) properties.set(name, below);
  }
  const items = schema.items && compileNested(schema.items, isNew);
  const valuesNode = values && compileNested(values, isNew);
  const own = schema['x-kubernetes-validations']?.length ?? 0;
  if (own === 0 && properties.size === 0 && !items && !valuesNode) return undefined;
  const type = own > 0 ? engine().cel.schemaType(schema, { root, name: 'selfType' }) : undefined;
  return {
    schema,
    type,
    rules: compileOwnRules(schema, type, isNew),
    properties,
    ...(items ? { items } : {}),
    ...(valuesNode ? { values: valuesNode } : {}),
  };
}

/**
 * Compiles the rules of a schema; undefined if it has none. `ofDefault`: the schema is not that of an API object but of
 * a new default, and its rules may only use what new expressions may use.
 */
export function compileRules(schema: StructuralSchema, ofDefault = false): RuleEvaluator | undefined {
  const root = ofDefault ? compileNested(schema, true) : compileNode(schema, true, false);
  if (!root) return undefined;
  return (value, old, warn) => {
    const evaluation: Evaluation = { found: [], warn, budget: engine().cel.REQUEST_BUDGET };
    visit(root, value, old, '', evaluation);
    return evaluation.found;
  };
}

function visit(node: RuleNode, value: Json, old: Json | undefined, path: string, evaluation: Evaluation): void {
  if (value === null || evaluation.budget < 0 || evaluation.found.length > MAX_VIOLATIONS) return;
  if (node.schema['x-kubernetes-validations']?.length) evaluateNode(node, value, old, path, evaluation);
  if (Array.isArray(value) && node.items) {
    const before = correlateItems(old, node.schema);
    for (const [i, item] of value.entries()) visit(node.items, item, before(item), `${path}[${i}]`, evaluation);
  } else if (isMembers(value)) visitMembers(node, value, old, path, evaluation);
}

function visitMembers(
  node: RuleNode,
  value: { [key: string]: Json },
  old: Json | undefined,
  path: string,
  evaluation: Evaluation,
): void {
  for (const [name, below] of node.properties)
    if (Object.hasOwn(value, name))
      visit(below, value[name]!, memberOf(old, name), path ? `${path}.${name}` : name, evaluation);
  if (!node.values) return;
  for (const key of Object.keys(value))
    if (!propertySchema(node.schema, key))
      visit(node.values, value[key]!, memberOf(old, key), `${path}[${key}]`, evaluation);
}

const NO_TYPE = 'rule compiler initialization error: failed to convert to declType for CEL validation rules';

/** The violation of a value whose rules cannot be evaluated. */
const unusable = (path: string, { type }: StructuralSchema, why: string): Violation =>
  violationOf('FieldValueInvalid', path, { type: type ?? '' }, why);

function evaluateNode(node: RuleNode, value: Json, old: Json | undefined, path: string, evaluation: Evaluation): void {
  const unchanged = old !== undefined && isUnchanged(value, old, node.schema);
  const { type } = node;
  if (!type) {
    // Upstream reports this only for the schema that is validated, not for nested ones.
    if (path === '') evaluation.found.push(unusable(path, node.schema, NO_TYPE));
    return;
  }
  // Upstream gives message expressions the old value only if a rule uses it.
  const usesOld = node.rules.some(rule => rule.usesOldSelf);
  for (const rule of node.rules) {
    if (!rule.program) {
      evaluation.found.push(unusable(path, node.schema, `rule compile error: ${rule.error}`));
      continue;
    }
    if (rule.usesOldSelf && old === undefined && !rule.source.optionalOldSelf) continue;
    const before = usesOld ? { value: old, optional: rule.source.optionalOldSelf === true } : undefined;
    const variables = new Variables(type, value, before);
    const found = evaluateRule(rule, rule.program, node.schema, variables, path, evaluation);
    if (!found) continue;
    const { violation, hasFailed } = found;
    // A value that the update did not change may violate a rule that was added later, but the evaluation of the rule
    // must not fail.
    const isAccepted = unchanged && !rule.usesOldSelf && !hasFailed;
    if (isAccepted && evaluation.warn) evaluation.warn(`${violation.field}: ${violation.message}`);
    else evaluation.found.push(violation);
    if (evaluation.budget < 0) return;
  }
}

/** The variables of a rule, which are converted when the rule uses them. */
class Variables {
  constructor(
    type: SchemaType,
    value: Json,
    old: { readonly value: Json | undefined; readonly optional: boolean } | undefined,
  ) {
    const { Optional } = engine().cel;
    const view = (data: Json | undefined) => (data === undefined || data === null ? null : type.view(data));
    const define = (name: string, get: () => unknown): unknown =>
      Object.defineProperty(this, name, { get, enumerable: true });
    define('self', () => view(value));
    if (!old) return;
    const { value: before, optional } = old;
    if (optional) define('oldSelf', () => (before == null ? Optional.none : new Optional(view(before))));
    else if (before !== undefined) define('oldSelf', () => view(before));
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

/** The violation of a rule; `hasFailed`: its evaluation has failed. Undefined if the rule holds. */
function evaluateRule(
  rule: CompiledRule,
  program: Program,
  schema: StructuralSchema,
  variables: Variables,
  path: string,
  evaluation: Evaluation,
): { readonly violation: Violation; readonly hasFailed: boolean } | undefined {
  const { source } = rule;
  const { CALL_BUDGET, evaluationMessage } = engine().cel;
  const outcome = program.evaluate(variables, { budget: Math.min(CALL_BUDGET, evaluation.budget) });
  evaluation.budget -= outcome.cost;
  if (outcome.error !== undefined) {
    const text = evaluationMessage(outcome.error);
    const ruleLabel = source.message?.trim() || source.rule.trim();
    const message = outcome.exceeded
      ? `${text} for rule: ${ruleLabel}`
      : outcome.error.startsWith('no such overload')
        ? `${text} for rule: ${ruleLabel}`
        : `${text} evaluating rule: ${ruleLabel}`;
    if (outcome.exceeded) evaluation.budget = -1;
    return { violation: violationOf('FieldValueInvalid', path, schema, message), hasFailed: true };
  }
  if (outcome.value === true) return undefined;
  const field = source.fieldPath ? resolveFieldPath(path, source.fieldPath, schema) : path;
  const reason =
    source.reason && REASONS.includes(source.reason) ? (source.reason as ViolationType) : 'FieldValueInvalid';
  const message = violationMessage(rule, variables, evaluation);
  return { violation: { ...violationOf(reason, field, schema, message), rule: source.rule.trim() }, hasFailed: false };
}

/** The message of a violated rule: the result of its message expression if valid, else its message, else its text. */
function violationMessage(rule: CompiledRule, variables: Variables, evaluation: Evaluation): string {
  const { message, rule: text } = rule.source;
  const defaultMessage = message?.trim() || `failed rule: ${text.trim()}`;
  if (!rule.message) return defaultMessage;
  const outcome = rule.message.evaluate(variables, {
    budget: Math.min(engine().cel.CALL_BUDGET, Math.max(0, evaluation.budget)),
  });
  evaluation.budget -= outcome.cost;
  const computed = typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return computed === '' || /[\r\n]/.test(computed) || Buffer.byteLength(computed) > MESSAGE_BYTES
    ? defaultMessage
    : computed;
}

function resolveFieldPath(path: string, fieldPath: string, schema: StructuralSchema): string {
  const found = findFieldPath(fieldPath, schema);
  const names = 'names' in found ? found.names : [];
  return names.reduce<string>((at, { name, isKey }) => (isKey ? `${at}[${name}]` : at ? `${at}.${name}` : name), path);
}
