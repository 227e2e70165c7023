import type { SchemaRule, StructuralSchema } from '../../api/resource.js';
import type { Compiled, Environment, SchemaCost, SchemaType, Type } from '../../cel/index.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../model/refusal.js';
import { engine } from './engine.js';
import { compileRule, fieldPathNames } from './ruleText.js';
import { hasRules, additionalSchema } from './prune.js';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Validates the rules of a schema, but not of nested ones, without compiling them. */
export function ruleTextViolations(schema: StructuralSchema, path: string): Violation[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) =>
    checkRuleText(rule, schema, `${path}.x-kubernetes-validations[${i}]`),
  );
}

function checkRuleText(rule: SchemaRule, schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const { rule: text = '', message, messageExpression, reason, fieldPath } = rule;
  if (text.trim() === '') found.push(required(`${path}.rule`, 'rule is not specified'));
  if (message && message.trim() === '')
    found.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (message && /[\r\n]/.test(message.trim()))
    found.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
  else if (/[\r\n]/.test(text.trim()) && !message)
    found.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (messageExpression && messageExpression.trim() === '')
    found.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (reason !== undefined && !REASONS.includes(reason)) found.push(notSupported(`${path}.reason`, reason, REASONS));
  if (fieldPath && !fieldPathNames(fieldPath, schema))
    found.push(invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must be a valid path'));
  return found;
}

/** The state of one check of a whole schema. */
interface CheckState {
  readonly found: Violation[];
  readonly cost: SchemaCost;
}

/** The position of a nested schema. */
interface SchemaPosition {
  /** How often it may occur in an object; undefined if a list or map around it has no limit. */
  readonly occurrences: number | undefined;
  /** Path of the outermost list or map in which old and new values cannot be correlated. */
  readonly uncorrelatable?: string;
}

/** How often a schema may occur at a position: without a limit, as often as its shortest values fit into a request. */
const occurrencesOf = ({ minBytes }: SchemaType, { occurrences }: SchemaPosition): number =>
  occurrences ?? engine().cel.unboundedCardinality(minBytes);

function addCost(
  state: CheckState,
  path: string,
  what: 'rule' | 'messageExpression',
  max: number,
  times: number,
): void {
  const tooHigh = state.cost.add(path, what, max, times);
  if (tooHigh) state.found.push(forbiddenField(path, tooHigh.message));
}

const quote = (text = ''): string => JSON.stringify(text);

/** A violation that shows the rule in Go syntax, as upstream. */
function invalidRule(path: string, rule: SchemaRule, why: string): Violation {
  const texts =
    `Rule:${quote(rule.rule)}, Message:${quote(rule.message)}, ` + `MessageExpression:${quote(rule.messageExpression)}`;
  const reason = rule.reason === undefined ? 'nil' : quote(rule.reason);
  const rest = `FieldPath:${quote(rule.fieldPath)}, OptionalOldSelf:(*bool)(${rule.optionalOldSelf ?? 'nil'})`;
  const goReason = `(*apiextensions.FieldValueErrorReason)(${reason})`;
  const shown = `apiextensions.ValidationRule{${texts}, Reason:${goReason}, ${rest}}`;
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${shown}: ${why}` };
}

const sameType = (a: Type | undefined, b: Type): boolean =>
  a !== undefined && engine().cel.formatType(a) === engine().cel.formatType(b);

function compileRules(
  schema: StructuralSchema,
  type: SchemaType,
  path: string,
  position: SchemaPosition,
  state: CheckState,
): void {
  const { BOOL, createEnvironment, librariesOf, optionalType, validationOf } = engine().cel;
  const options = { libraries: librariesOf(), validation: validationOf() };
  const base = createEnvironment({ ...options, variables: { self: type.type }, sizes: { self: type } });
  for (const [i, source] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const rulePath = `${path}.x-kubernetes-validations[${i}]`;
    const old = source.optionalOldSelf ? optionalType(type.type) : type.type;
    const full = base.extend({ oldSelf: old }, { self: type, oldSelf: type });
    const { compiled, usesOldSelf } = compileRule(base, full, source.rule);
    if (!compiled.program) state.found.push(invalidRule(`${rulePath}.rule`, source, whyNotCompiled(compiled)));
    else if (!sameType(compiled.type, BOOL))
      state.found.push(invalidRule(`${rulePath}.rule`, source, 'cel expression must evaluate to a bool'));
    else {
      addCost(state, `${rulePath}.rule`, 'rule', compiled.cost!.max, occurrencesOf(type, position));
      checkOldSelf(source, usesOldSelf, rulePath, position, state);
    }
    if (source.messageExpression)
      checkMessage(full, source.messageExpression, source, rulePath, occurrencesOf(type, position), state);
  }
}

/** Why an expression could not be compiled. `planning`: how its last step is called. */
const whyNotCompiled = ({ planError, errors }: Compiled, planning = 'program instantiation'): string =>
  planError === undefined ? `compilation failed: ${errors}` : `${planning} failed: ${planError}`;

function checkOldSelf(
  source: SchemaRule,
  usesOldSelf: boolean,
  rulePath: string,
  { uncorrelatable }: SchemaPosition,
  state: CheckState,
): void {
  if (usesOldSelf && uncorrelatable !== undefined)
    state.found.push(
      invalid(
        `${rulePath}.rule`,
        source.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
      ),
    );
  if (source.optionalOldSelf !== undefined && source.optionalOldSelf !== null && !usesOldSelf)
    state.found.push(
      invalid(`${rulePath}.optionalOldSelf`, source.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
    );
}

function checkMessage(
  env: Environment,
  text: string,
  source: SchemaRule,
  rulePath: string,
  occurrences: number,
  state: CheckState,
): void {
  const path = `${rulePath}.messageExpression`;
  const compiled = env.compile(text);
  if (!compiled.program)
    state.found.push(invalidRule(path, source, `messageExpression ${whyNotCompiled(compiled, 'instantiation')}`));
  else if (!sameType(compiled.type, engine().cel.STRING))
    state.found.push(invalidRule(path, source, 'messageExpression must evaluate to a string'));
  else addCost(state, path, 'messageExpression', compiled.cost!.max, occurrences);
}

function visit(
  schema: StructuralSchema,
  path: string,
  position: SchemaPosition,
  root: boolean,
  state: CheckState,
): void {
  const rules = schema['x-kubernetes-validations']?.length ?? 0;
  const values = additionalSchema(schema);
  const type = rules > 0 ? engine().cel.schemaType(schema, { root, name: 'selfType' }) : undefined;
  if (type) compileRules(schema, type, path, position, state);
  const keyed = schema['x-kubernetes-list-type'] === 'map';
  const { cardinality } = engine().cel;
  if (schema.items) {
    const occurrences = cardinality(position.occurrences, schema.maxItems);
    const uncorrelatable = position.uncorrelatable ?? (keyed ? undefined : path);
    visit(
      schema.items,
      `${path}.items`,
      { occurrences, ...(uncorrelatable === undefined ? {} : { uncorrelatable }) },
      false,
      state,
    );
  }
  const mapUncorrelatable =
    position.uncorrelatable ?? (schema['x-kubernetes-map-type'] === 'atomic' ? path : undefined);
  const below = (count: number | undefined): SchemaPosition => ({
    occurrences: count,
    ...(mapUncorrelatable === undefined ? {} : { uncorrelatable: mapUncorrelatable }),
  });
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    visit(property, `${path}.properties[${name}]`, below(position.occurrences), false, state);
  if (values) {
    const occurrences = cardinality(position.occurrences, schema.maxProperties);
    visit(values, `${path}.additionalProperties`, below(occurrences), false, state);
  }
}

/** Validates the rules of a structural schema: they must compile to booleans, and their costs must be within limits. */
export function ruleViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!hasRules(schema)) return [];
  const state: CheckState = { found: [], cost: new (engine().cel.SchemaCost)() };
  visit(schema, path, { occurrences: 1 }, true, state);
  const tooHigh = state.cost.violations().map(violation => forbiddenField(violation.path ?? path, violation.message));
  return [...state.found, ...tooHigh];
}
