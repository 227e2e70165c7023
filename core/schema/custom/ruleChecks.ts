import type { SchemaRule, StructuralSchema } from '../../api/resource.js';
import type { Environment, SchemaType, Type } from '../../cel/index.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../model/refusal.js';
import { engine } from './engine.js';
import { compiledRule, fieldPathNames } from './ruleText.js';
import { hasRules, valuesOf } from './prune.js';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
/** Of the costly rules of a schema that is too costly as a whole, so many are named. */
const NAMED = 4;

/** What is wrong with the texts of a schema's own rules, before anything is compiled. */
export function ruleTextViolations(schema: StructuralSchema, path: string): Violation[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) =>
    ruleText(rule, schema, `${path}.x-kubernetes-validations[${i}]`),
  );
}

function ruleText(rule: SchemaRule, schema: StructuralSchema, path: string): Violation[] {
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
interface Check {
  readonly found: Violation[];
  total: number;
  readonly costly: { readonly path: string; readonly cost: number }[];
}

/** Where a schema stands: how often it may occur in one object, and whether old values can be told there. */
interface Place {
  readonly times: number;
  /** Path of the nearest list or map whose members have no identity. */
  readonly lost?: string;
}

function spend(check: Check, path: string, cost: number, what: string): void {
  const { costMessage, EXPRESSION_COST_LIMIT, SCHEMA_COST_LIMIT } = engine().cel;
  check.total += cost;
  if (cost >= SCHEMA_COST_LIMIT / 100) check.costly.push({ path, cost });
  if (cost > EXPRESSION_COST_LIMIT)
    check.found.push(forbiddenField(path, costMessage(`estimated ${what} cost`, cost, EXPRESSION_COST_LIMIT)));
}

const quoted = (text = ''): string => JSON.stringify(text);

/** Clients know the refused rule in the notation of upstream's language. */
function invalidRule(path: string, rule: SchemaRule, why: string): Violation {
  const texts = `Rule:${quoted(rule.rule)}, Message:${quoted(rule.message)}, MessageExpression:${quoted(rule.messageExpression)}`;
  const reason = rule.reason === undefined ? 'nil' : quoted(rule.reason);
  const rest = `FieldPath:${quoted(rule.fieldPath)}, OptionalOldSelf:(*bool)(${rule.optionalOldSelf ?? 'nil'})`;
  const shown = `apiextensions.ValidationRule{${texts}, Reason:(*apiextensions.FieldValueErrorReason)(${reason}), ${rest}}`;
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${shown}: ${why}` };
}

const sameType = (a: Type | undefined, b: Type): boolean =>
  a !== undefined && engine().cel.formatType(a) === engine().cel.formatType(b);

function compileRules(schema: StructuralSchema, type: SchemaType, path: string, place: Place, check: Check): void {
  const { BOOL, createEnvironment, librariesOf, optionalType, validationOf } = engine().cel;
  const options = { libraries: librariesOf(), validation: validationOf() };
  const base = createEnvironment({ ...options, variables: { self: type.type }, sizes: { self: type } });
  for (const [i, source] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const where = `${path}.x-kubernetes-validations[${i}]`;
    const old = source.optionalOldSelf ? optionalType(type.type) : type.type;
    const full = base.extend({ oldSelf: old }, { self: type, oldSelf: type });
    const { compiled, usesOld } = compiledRule(base, full, source.rule);
    if (!compiled.program)
      check.found.push(invalidRule(`${where}.rule`, source, `compilation failed: ${compiled.errors}`));
    else if (!sameType(compiled.type, BOOL))
      check.found.push(invalidRule(`${where}.rule`, source, 'cel expression must evaluate to a bool'));
    else {
      spend(check, `${where}.rule`, compiled.cost!.max * place.times, 'rule');
      checkOld(source, usesOld, where, place, check);
    }
    if (source.messageExpression) checkMessage(full, source.messageExpression, source, where, place, check);
  }
}

function checkOld(source: SchemaRule, usesOld: boolean, where: string, { lost }: Place, check: Check): void {
  if (usesOld && lost !== undefined)
    check.found.push(
      invalid(
        `${where}.rule`,
        source.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${lost}`,
      ),
    );
  if (source.optionalOldSelf !== undefined && source.optionalOldSelf !== null && !usesOld)
    check.found.push(
      invalid(`${where}.optionalOldSelf`, source.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
    );
}

function checkMessage(
  env: Environment,
  text: string,
  source: SchemaRule,
  where: string,
  { times }: Place,
  check: Check,
): void {
  const path = `${where}.messageExpression`;
  const compiled = env.compile(text);
  if (!compiled.program)
    check.found.push(invalidRule(path, source, `messageExpression compilation failed: ${compiled.errors}`));
  else if (!sameType(compiled.type, engine().cel.STRING))
    check.found.push(invalidRule(path, source, 'messageExpression must evaluate to a string'));
  else spend(check, path, compiled.cost!.max * times, 'messageExpression');
}

function visit(schema: StructuralSchema, path: string, place: Place, root: boolean, check: Check): void {
  const rules = schema['x-kubernetes-validations']?.length ?? 0;
  const values = valuesOf(schema);
  const type =
    rules > 0 || schema.items || values ? engine().cel.schemaType(schema, { root, name: 'selfType' }) : undefined;
  if (rules > 0 && type) compileRules(schema, type, path, place, check);
  const times = place.times * (type?.maxSize ?? 1);
  const keyed = schema['x-kubernetes-list-type'] === 'map';
  if (schema.items) {
    const lost = place.lost ?? (keyed ? undefined : path);
    visit(schema.items, `${path}.items`, { times, ...(lost === undefined ? {} : { lost }) }, false, check);
  }
  const mapLost = place.lost ?? (schema['x-kubernetes-map-type'] === 'atomic' ? path : undefined);
  const below = (count: number): Place => ({ times: count, ...(mapLost === undefined ? {} : { lost: mapLost }) });
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    visit(property, `${path}.properties[${name}]`, below(place.times), false, check);
  if (values) visit(values, `${path}.additionalProperties`, below(times), false, check);
}

/**
 * What is wrong with the rules of a structural schema: they must compile, be booleans, and be affordable alone and
 * together.
 */
export function ruleViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!hasRules(schema)) return [];
  const { costMessage, SCHEMA_COST_LIMIT } = engine().cel;
  const check: Check = { found: [], total: 0, costly: [] };
  visit(schema, path, { times: 1 }, true, check);
  if (check.total <= SCHEMA_COST_LIMIT) return check.found;
  const costly = check.costly.sort((a, b) => b.cost - a.cost).slice(0, NAMED);
  const whole = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  return [
    ...check.found,
    ...costly.map(rule =>
      forbiddenField(
        rule.path,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
    ),
    forbiddenField(path, costMessage(whole, check.total, SCHEMA_COST_LIMIT)),
  ];
}
