import { isDeepStrictEqual } from 'node:util';
import type { ResourceType, ResourceVersion, StructuralSchema } from '../../api/resource.js';
import type { Strategy, StrategyContext } from '../../api/strategy.js';
import { isNumber } from '../../model/text/jsonText.js';
import { goText, goType } from '../../model/text/goText.js';
import type { ApiObject, Json } from '../../model/object.js';
import { invalid, Refusal, type Violation } from '../../model/refusal.js';
import { isMembers, reach } from '../patch/members.js';
import { completeStrategy } from '../registry/strategyDefaults.js';
import type { CustomSchema } from '../resource.js';
import { columnsOf } from './columns.js';
import { embeddedViolations, withinGrowth } from './customSchema.js';
import { loadEngine } from './engine.js';
import { warnAboutFinalizers } from './finalizers.js';
import { simplePathNames } from './jsonPath.js';
import { applyDefaults, Growth } from './defaults.js';
import { hasRules, needsEngine, propertySchema } from './prune.js';
import { compileRules, type RuleEvaluator } from './rules/rules.js';
import { duplicateViolations, schemaViolations, WHOLE_OBJECT } from './validate.js';

/** The largest number of replicas of a Scale. */
const MAX_REPLICAS = 2 ** 31 - 1;

const fieldText = (value: unknown): string =>
  typeof value === 'string' ? value : isNumber(value) || typeof value === 'boolean' ? String(value) : '';

/** The selectable fields by name: the path without the leading dot. */
const selectableFieldsOf = (version: ResourceVersion): Strategy['selectableFields'] =>
  new Map(
    (version.selectableFields ?? []).map(path => {
      const names = simplePathNames(path) ?? [];
      return [names.join('.'), (object: ApiObject) => fieldText(reach(object, names))];
    }),
  );

function scaleOf(version: ResourceVersion): Strategy['scale'] {
  const scale = version.subresources?.scale;
  if (!scale) return undefined;
  const selector = scale.labelSelectorPath ? simplePathNames(scale.labelSelectorPath) : undefined;
  const spec = simplePathNames(scale.specReplicasPath) ?? [scale.specReplicasPath];
  const status = simplePathNames(scale.statusReplicasPath) ?? [scale.statusReplicasPath];
  const field = `the spec replicas field ${JSON.stringify(scale.specReplicasPath)}`;
  return {
    spec,
    status,
    selector: object => (selector ? fieldText(reach(object, selector)) : ''),
    messages: {
      absent: `${field} does not exist`,
      empty: `${field} cannot be empty`,
      wrongType: object =>
        wrongTypeAt(object, spec, 'int64') ??
        wrongTypeAt(object, status, 'int64') ??
        (selector && wrongTypeAt(object, selector, 'string')),
    },
  };
}

/** Violations of the fields that the scale subresource reads in the status of an object. */
function scaleStatusViolations(object: ApiObject, version: ResourceVersion): Violation[] {
  const scale = version.subresources?.scale;
  if (!scale) return [];
  const { statusReplicasPath, labelSelectorPath } = scale;
  const found = replicaViolations(object, statusReplicasPath);
  if (!labelSelectorPath) return found;
  const wrong = wrongTypeAt(object, simplePathNames(labelSelectorPath) ?? [], 'string');
  return wrong ? [...found, invalid(labelSelectorPath, '', wrong)] : found;
}

/** Violations of all fields that the scale subresource reads. */
function scaleViolations(object: ApiObject, version: ResourceVersion): Violation[] {
  const path = version.subresources?.scale?.specReplicasPath;
  return path ? [...replicaViolations(object, path), ...scaleStatusViolations(object, version)] : [];
}

function replicaViolations(object: ApiObject, path: string): Violation[] {
  const names = simplePathNames(path) ?? [path];
  const wrong = wrongTypeAt(object, names, 'int64');
  if (wrong) return [invalid(path, 0, wrong)];
  const count = reach(object, names);
  if (!isNumber(count)) return [];
  if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
  return count > MAX_REPLICAS ? [invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

/**
 * Describes, in upstream's words, a field whose value does not have the expected type; undefined if the field is absent
 * or correct.
 */
function wrongTypeAt(object: ApiObject, names: readonly string[], expected: 'int64' | 'string'): string | undefined {
  let value: unknown = object;
  const describe = (depth: number, type: string): string =>
    `.${names.slice(0, depth).join('.')} accessor error: ${goText(value as Json)} is of the type ` +
    `${goType(value)}, expected ${type}`;
  for (const [i, name] of names.entries()) {
    if (value === null) return undefined;
    if (!isMembers(value)) return describe(i + 1, 'map[string]interface{}');
    if (!Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return goType(value) === expected ? undefined : describe(names.length, expected);
}

/** Reasons of violations after which validation rules are not evaluated. */
const BLOCKING_REASONS = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_CHECKED: Violation = {
  reason: 'FieldValueInvalid',
  field: WHOLE_OBJECT,
  message:
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the ' +
    'existing errors to complete validation',
};

/**
 * Violations of the schema in the whole object. Of the existing violations, only lists with duplicates are accepted.
 */
function objectViolations(object: ApiObject, old: ApiObject | undefined, version: ResourceVersion): Violation[] {
  const value = object as unknown as Json;
  const { schema } = version;
  return [
    ...schemaViolations(value, schema, '', old as unknown as Json),
    ...scaleViolations(object, version),
    ...embeddedViolations(object, schema),
    ...newDuplicates(object, old, schema),
  ];
}

/**
 * Violations of the schema in the status. Upstream validates the status separately: paths in messages begin at it,
 * violations elsewhere are ignored, and objects that are embedded in it are not validated.
 */
function statusViolations(object: ApiObject, old: ApiObject | undefined, version: ResourceVersion): Violation[] {
  const { schema } = version;
  const below = propertySchema(schema, 'status');
  const { status } = object;
  const found =
    below && status !== undefined ? schemaViolations(status as Json, below, '', old?.status as Json | undefined) : [];
  const isWhole = (field: string): boolean => field === '' || field === WHOLE_OBJECT;
  const fieldOf = (field: string): string => (isWhole(field) ? 'status' : `status.${field.replace(/^\./, '')}`);
  const inStatus = found.map(one => ({ ...one, field: fieldOf(one.field) }));
  return [...inStatus, ...scaleStatusViolations(object, version), ...newDuplicates(object, old, schema)];
}

/** Duplicates in lists, unless the old object had any. */
function newDuplicates(object: ApiObject, old: ApiObject | undefined, schema: StructuralSchema): Violation[] {
  const found = duplicateViolations(object as unknown as Json, schema, '');
  if (found.length === 0 || !old) return found;
  return duplicateViolations(old as unknown as Json, schema, '').length === 0 ? found : [];
}

/**
 * The validation of the objects of a version. `check` finds violations that a schema cannot express; it is not called
 * for objects with violations that code which relies on the schema could not handle.
 */
function makeValidator(type: ResourceType, version: ResourceVersion, rules: () => RuleEvaluator | undefined) {
  return (
    schemaFindings: (object: ApiObject, old: ApiObject | undefined, version: ResourceVersion) => Violation[],
    object: ApiObject,
    old: ApiObject | undefined,
    context: StrategyContext,
    check: () => readonly Violation[],
  ): Violation[] => {
    const found = schemaFindings(object, old, version);
    const compiled = rules();
    const isBlocked = found.some(violation => BLOCKING_REASONS.has(violation.reason));
    if (isBlocked) return compiled ? [...found, NOT_CHECKED] : found;
    const [value, before] = [object as unknown as Json, old as unknown as Json | undefined];
    const ruleFindings = compiled?.(value, before, text => context.warn?.(text)) ?? [];
    return [...found, ...ruleFindings, ...(type.validate?.(object, old) ?? []), ...check()];
  };
}

const withoutStatus = ({ metadata: _metadata, status: _status, ...content }: ApiObject): object => content;
const withoutMetadata = ({ metadata: _metadata, ...content }: ApiObject): object => content;

/** A status write changes nothing else, not even labels. Of the metadata, only fields set by the server are kept. */
function restoreMetadata(object: ApiObject, { metadata }: ApiObject): void {
  const { managedFields, resourceVersion } = object.metadata;
  object.metadata = {
    ...metadata,
    ...(managedFields ? { managedFields } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
}

/** A create removes the status. The default of the status in the schema is then set again. */
function setDefaultStatus(object: ApiObject, { properties }: StructuralSchema): void {
  const status = properties?.['status'];
  if (!status) return;
  const { apiVersion, kind, metadata } = object;
  withinGrowth(apiVersion, kind, metadata.name ?? '', () =>
    applyDefaults(object as unknown as Json, { properties: { status } }, new Growth()),
  );
}

/** Returns the rules in the definition of a type as a strategy. */
function schemaStrategy(
  type: ResourceType,
  version: ResourceVersion,
  schemaFor: (apiVersion: string) => CustomSchema | undefined,
) {
  const hasStatus = Boolean(version.subresources?.status);
  const content = hasStatus ? withoutStatus : withoutMetadata;
  return {
    allowAnyFinalizer: true,
    hasGeneration: true,
    changesGeneration: (object, old) => !isDeepStrictEqual(content(object), content(old)),
    hasStatus,
    allowUnconditionalUpdate: false,
    keptInStatus: ['labels', 'annotations', 'finalizers', 'ownerReferences'],
    prepareStatus: restoreMetadata,
    prepareCreate: object => {
      if (type.terminating)
        throw new Refusal('MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
          group: type.group,
          kind: type.plural,
        });
      if (hasStatus) setDefaultStatus(object, version.schema);
    },
    ...(needsEngine(version.schema) ? { load: loadEngine } : {}),
    unknownFieldMessage: field => `field label not supported: ${field}`,
    selectableFields: selectableFieldsOf(version),
    columns: columnsOf(version.columns),
    scale: scaleOf(version),
    convert: (object, apiVersion) => schemaFor(apiVersion)?.convert(object) ?? { ...object, apiVersion },
  } satisfies Partial<Strategy>;
}

/**
 * The strategy of a version of a custom type. The members of the type's own strategy replace those that its schema
 * gives, with three exceptions: checks, preparations and selectable fields are added to those of the schema.
 */
export function strategyOf(
  type: ResourceType,
  version: ResourceVersion,
  schemaFor: (apiVersion: string) => CustomSchema | undefined,
): Strategy {
  const { strategy = {} } = type;
  const schema: Partial<Strategy> = schemaStrategy(type, version, schemaFor);
  let rules: { readonly compiled: RuleEvaluator | undefined } | undefined;
  const violations = makeValidator(
    type,
    version,
    () => (rules ??= { compiled: hasRules(version.schema) ? compileRules(version.schema) : undefined }).compiled,
  );
  return completeStrategy({
    ...schema,
    ...strategy,
    load:
      schema.load && strategy.load
        ? () => Promise.all([schema.load!(), strategy.load!()])
        : (schema.load ?? strategy.load),
    prepareCreate: (object, context) => {
      schema.prepareCreate?.(object, context);
      strategy.prepareCreate?.(object, context);
    },
    prepareStatus: (object, old, context) => {
      schema.prepareStatus?.(object, old, context);
      strategy.prepareStatus?.(object, old, context);
    },
    validateCreate: (object, context) => {
      warnAboutFinalizers(object, undefined, text => context.warn?.(text));
      const further = () => strategy.validateCreate?.(object, context) ?? [];
      return violations(objectViolations, object, undefined, context, further);
    },
    validateUpdate: (object, old, context) => {
      warnAboutFinalizers(object, old, text => context.warn?.(text));
      const further = () => strategy.validateUpdate?.(object, old, context) ?? [];
      return violations(objectViolations, object, old, context, further);
    },
    validateStatus: (object, old, context) =>
      violations(statusViolations, object, old, context, () => strategy.validateStatus?.(object, old, context) ?? []),
    selectableFields: new Map([...schema.selectableFields!, ...(strategy.selectableFields ?? [])]),
    // Conversion is part of reading an object: the schema of `schemaFor` calls the type's own conversion.
    convert: schema.convert,
  });
}
