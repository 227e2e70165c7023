import type { SchemaRule, StructuralSchema } from '../../../api/resource.js';
import type { Environment, SchemaCost, SchemaType } from '../../../cel/index.js';
import {
  forbiddenField,
  internalError,
  invalid,
  notSupported,
  required,
  type Violation,
} from '../../../model/refusal.js';
import { engine } from '../engine.js';
import { findFieldPath } from '../fieldPath.js';
import { additionalSchema } from '../prune.js';
import { unrepresentedKeyword } from '../structural/schemaWalk.js';
import { compileError, compileRule, isBoolean, REASONS } from './ruleText.js';

const NO_TYPE =
  'internal error: failed to construct type information for x-kubernetes-validations rules: ' +
  'unable to convert structural schema to CEL declarations';

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
  if (fieldPath) found.push(...checkFieldPath(fieldPath, schema, `${path}.fieldPath`));
  return found;
}

function checkFieldPath(fieldPath: string, schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  if (fieldPath.trim() === '') found.push(invalid(path, fieldPath, 'fieldPath must be non-empty if specified'));
  if (/[\r\n]/.test(fieldPath)) found.push(invalid(path, fieldPath, 'fieldPath must not contain line breaks'));
  if (unrepresentedKeyword(schema) === undefined && 'error' in findFieldPath(fieldPath, schema))
    found.push(invalid(path, fieldPath, 'fieldPath must be a valid path'));
  return found;
}

/** The state of one check of a whole schema. */
interface CheckState {
  found: Violation[];
  readonly cost: SchemaCost;
}

/** The position of a nested schema. */
export interface SchemaPosition {
  /** How often the schema may occur in an object; undefined if a list or map around it has no limit. */
  readonly occurrences: number | undefined;
  /** Path of the outermost list or map in which old and new values cannot be correlated. */
  readonly uncorrelatable?: string;
  /**
   * Whether a schema around it has rules. Upstream then derives the types of nested schemas from that of the outer one.
   */
  readonly isInRules?: boolean;
  /** Whether expressions cannot use it, because they cannot use a schema between it and one with rules. */
  readonly isUntyped?: boolean;
}

/**
 * How often a schema may occur at a position: without a limit, the number of its shortest values that fit into a
 * request.
 */
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

/** A violation that shows the rule in Go syntax, upstream's form. */
function invalidRule(path: string, rule: SchemaRule, why: string): Violation {
  const texts =
    `Rule:${quote(rule.rule)}, Message:${quote(rule.message)}, ` + `MessageExpression:${quote(rule.messageExpression)}`;
  const reason = rule.reason === undefined ? 'nil' : quote(rule.reason);
  const rest = `FieldPath:${quote(rule.fieldPath)}, OptionalOldSelf:(*bool)(${rule.optionalOldSelf ?? 'nil'})`;
  const goReason = `(*apiextensions.FieldValueErrorReason)(${reason})`;
  const shown = `apiextensions.ValidationRule{${texts}, Reason:${goReason}, ${rest}}`;
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${shown}: ${why}` };
}

function compileRules(
  schema: StructuralSchema,
  type: SchemaType,
  path: string,
  position: SchemaPosition,
  state: CheckState,
): void {
  const { createEnvironment, librariesOf, optionalType, validationOf } = engine().cel;
  const options = { libraries: librariesOf(), validation: validationOf() };
  const base = createEnvironment({ ...options, variables: { self: type.type }, sizes: { self: type } });
  for (const [i, source] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const rulePath = `${path}.x-kubernetes-validations[${i}]`;
    const old = source.optionalOldSelf ? optionalType(type.type) : type.type;
    const full = base.extend({ oldSelf: old }, { self: type, oldSelf: type });
    const { compiled, usesOldSelf } = compileRule(base, full, source.rule);
    const error = compiled.program
      ? isBoolean(compiled)
        ? undefined
        : 'cel expression must evaluate to a bool'
      : compileError(compiled);
    // Only a rule that compiles has a cost. Its message is checked only then, too.
    if (error === undefined) {
      addCost(state, `${rulePath}.rule`, 'rule', compiled.cost!.max, occurrencesOf(type, position));
      if (source.messageExpression) checkMessage(full, source.messageExpression, source, rulePath, state);
    } else state.found.push(invalidRule(`${rulePath}.rule`, source, error));
    checkOldSelf(source, error === undefined && usesOldSelf, rulePath, position, state);
  }
}

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

function checkMessage(env: Environment, text: string, source: SchemaRule, rulePath: string, state: CheckState): void {
  const path = `${rulePath}.messageExpression`;
  const compiled = env.compile(text);
  if (!compiled.program)
    state.found.push(invalidRule(path, source, `messageExpression ${compileError(compiled, 'instantiation')}`));
  else if (engine().cel.formatType(compiled.type!) !== 'string')
    state.found.push(invalidRule(path, source, 'messageExpression must evaluate to a string'));
  // A message is computed once, however often its schema occurs.
  else addCost(state, path, 'messageExpression', compiled.cost!.max, 1);
}

const SCALARS = new Set(['boolean', 'integer', 'null', 'number', 'string']);

/** Whether expressions can use the values of a schema, because it defines their type. */
function isTyped(schema: StructuralSchema, isRoot = false): boolean {
  if (schema['x-kubernetes-int-or-string']) return true;
  if (isRoot || schema['x-kubernetes-embedded-resource']) return Boolean(schema.type);
  if (schema.type === 'array') return schema.items !== undefined && isTyped(schema.items);
  const values = additionalSchema(schema);
  return schema.type === 'object' ? !values || isTyped(values) : SCALARS.has(schema.type ?? '');
}

/** Whether the members of an object are compared with the old ones of the same name. */
const isCorrelatable = (mapType: string | undefined): boolean =>
  mapType === undefined || mapType === 'granular' || mapType === 'atomic';

/** The compilation of the rules of a schema and its nested ones, and the sum of their costs. */
export class RuleCosts {
  readonly #state: CheckState = { found: [], cost: new (engine().cel.SchemaCost)() };

  /** Violations of the rules of a schema, but not of nested ones. */
  check(schema: StructuralSchema, path: string, position: SchemaPosition, isRoot: boolean): Violation[] {
    if (!schema['x-kubernetes-validations']?.length) return [];
    const type = position.isUntyped ? undefined : engine().cel.schemaType(schema, { root: isRoot, name: 'selfType' });
    if (!type) return [internalError(`${path}.x-kubernetes-validations`, NO_TYPE)];
    this.#state.found = [];
    compileRules(schema, type, path, position, this.#state);
    return this.#state.found;
  }

  /** The position of the schemas of a member of a schema. */
  below(
    schema: StructuralSchema,
    path: string,
    { occurrences, uncorrelatable, isInRules, isUntyped }: SchemaPosition,
    member: 'items' | 'additionalProperties' | 'properties',
    isRoot: boolean,
  ): SchemaPosition {
    const { cardinality } = engine().cel;
    const hasRules = isInRules || (schema['x-kubernetes-validations']?.length ?? 0) > 0;
    const correlates =
      member === 'items' ? schema['x-kubernetes-list-type'] === 'map' : isCorrelatable(schema['x-kubernetes-map-type']);
    const outermost = uncorrelatable ?? (correlates ? undefined : path);
    // Upstream counts a property like the entries of a map if additional properties are allowed.
    const isSingle = member === 'properties' && schema.additionalProperties === undefined;
    const most = member === 'items' ? schema.maxItems : schema.maxProperties;
    return {
      occurrences: isSingle ? occurrences : cardinality(occurrences, most),
      ...(outermost === undefined ? {} : { uncorrelatable: outermost }),
      ...(hasRules ? { isInRules: true } : {}),
      ...(isUntyped || (hasRules && !isTyped(schema, isRoot)) ? { isUntyped: true } : {}),
    };
  }

  /** Violations if all checked rules together cost too much. `path` is that of the root schema. */
  total(path: string): Violation[] {
    return this.#state.cost.violations().map(({ path: at, message }) => forbiddenField(at ?? path, message));
  }
}
