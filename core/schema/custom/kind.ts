import { isDeepStrictEqual } from 'node:util';
import type { ResourceType, ResourceVersion } from '../../api/resource.js';
import type { StrategyContext, Strategy } from '../../api/strategy.js';
import type { ApiObject, Json } from '../../model/object.js';
import { invalid, Refusal, type Violation } from '../../model/refusal.js';
import type { CustomSchema, Resource, Subresource } from '../resource.js';
import { reach } from '../patch/members.js';
import { completeStrategy } from '../strategy-defaults.js';
import { typeOf } from '../table/types.js';
import { columnsOf } from './columns.js';
import { loadEngine } from './engine.js';
import { simplePathNames } from './jsonPath.js';
import { embeddedViolations, customSchema } from './customSchema.js';
import { hasRules, needsEngine } from './prune.js';
import { type RuleEvaluator, compileRules } from './rules.js';
import { structForSchema } from './types.js';
import { duplicateViolations, schemaViolations, WHOLE_OBJECT } from './validate.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];
/** The largest number of replicas of a Scale. */
const MAX_REPLICAS = 2 ** 31 - 1;

const fieldText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

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
  return {
    spec: simplePathNames(scale.specReplicasPath) ?? [scale.specReplicasPath],
    status: simplePathNames(scale.statusReplicasPath) ?? [scale.statusReplicasPath],
    selector: object => (selector ? fieldText(reach(object, selector)) : ''),
    absentMessage: `the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`,
  };
}

function replicaViolations(object: ApiObject, version: ResourceVersion): Violation[] {
  const scale = version.subresources?.scale;
  if (!scale) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap(path => {
    const count = reach(object, simplePathNames(path) ?? [path]);
    if (typeof count !== 'number') return [];
    if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
    return count > MAX_REPLICAS ? [invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
  });
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

/** The validation of the objects of a version. */
function makeValidator(type: ResourceType, version: ResourceVersion, rules: () => RuleEvaluator | undefined) {
  const { schema } = version;
  return (object: ApiObject, old: ApiObject | undefined, context: StrategyContext): Violation[] => {
    const value = object as unknown as Json;
    const found = [
      ...schemaViolations(value, schema, '', old as unknown as Json),
      ...duplicateViolations(value, schema, ''),
      ...embeddedViolations(object, schema),
      ...replicaViolations(object, version),
    ];
    const compiled = rules();
    const isBlocked = found.some(violation => BLOCKING_REASONS.has(violation.reason));
    const evaluate = (rule: RuleEvaluator): Violation[] =>
      rule(value, old as unknown as Json | undefined, text => context.warn?.(text));
    const ruleFindings = !compiled ? [] : isBlocked ? [NOT_CHECKED] : evaluate(compiled);
    return [...found, ...ruleFindings, ...(type.validate && !isBlocked ? type.validate(object, old) : [])];
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

function strategyOf(
  type: ResourceType,
  version: ResourceVersion,
  schemaFor: (apiVersion: string) => CustomSchema | undefined,
): Strategy {
  let rules: { readonly compiled: RuleEvaluator | undefined } | undefined;
  const violations = makeValidator(
    type,
    version,
    () => (rules ??= { compiled: hasRules(version.schema) ? compileRules(version.schema) : undefined }).compiled,
  );
  const hasStatus = Boolean(version.subresources?.status);
  const content = hasStatus ? withoutStatus : withoutMetadata;
  return completeStrategy({
    allowAnyFinalizer: true,
    hasGeneration: true,
    changesGeneration: (object, old) => !isDeepStrictEqual(content(object), content(old)),
    hasStatus,
    allowUnconditionalUpdate: false,
    prepareStatus: restoreMetadata,
    prepareCreate: () => {
      if (type.terminating)
        throw new Refusal('MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
          group: type.group,
          kind: type.plural,
        });
    },
    validateCreate: (object, context) => violations(object, undefined, context),
    validateUpdate: violations,
    validateStatus: violations,
    ...(needsEngine(version.schema) ? { load: loadEngine } : {}),
    unknownFieldMessage: field => `field label not supported: ${field}`,
    selectableFields: selectableFieldsOf(version),
    columns: columnsOf(version.columns),
    scale: scaleOf(version),
    convert: (object, apiVersion) => schemaFor(apiVersion)?.read(object) ?? { ...object, apiVersion },
  });
}

function subresourcesOf(type: ResourceType, version: ResourceVersion): Map<string, Subresource> {
  const found = new Map<string, Subresource>();
  const { status, scale } = version.subresources ?? {};
  const common = { kind: type.kind, group: type.group, version: version.name, verbs: SUBRESOURCE_VERBS };
  if (status) found.set('status', { name: 'status', ...common });
  if (scale)
    found.set('scale', {
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: SUBRESOURCE_VERBS,
      get type() {
        return typeOf('autoscaling.v1.Scale');
      },
    });
  return found;
}

/** Computes a value on first use. Most processes do not use the schemas of all their types. */
function lazy<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}

/** The served versions of a resource type as registry resources, which generic code treats like built-in ones. */
export function resourcesOf(type: ResourceType): Resource[] {
  const { group, plural, singular, kind, listKind, shortNames, categories, changedAt } = type;
  const stored = type.versions.find(version => version.storage) ?? type.versions[0]!;
  const apiVersionOf = (version: ResourceVersion): string => `${group}/${version.name}`;
  const schemas = new Map(
    type.versions.map(version => [
      apiVersionOf(version),
      lazy(() => customSchema(version.schema, stored.schema, apiVersionOf(version), kind)),
    ]),
  );
  return type.versions
    .filter(version => version.served)
    .map(version => {
      const struct = lazy(() => structForSchema(version.schema, `${apiVersionOf(version)}.${kind}`));
      return {
        group,
        version: version.name,
        apiVersion: apiVersionOf(version),
        plural,
        singular,
        kind,
        listKind,
        namespaced: type.scope === 'Namespaced',
        shortNames,
        categories,
        verbs: VERBS,
        subresources: subresourcesOf(type, version),
        get type() {
          return struct();
        },
        stored: true,
        builtIn: false,
        storageName: `${group}/${plural}`,
        storageApiVersion: apiVersionOf(stored),
        strategy: strategyOf(type, version, apiVersion => schemas.get(apiVersion)?.()),
        get custom() {
          return schemas.get(apiVersionOf(version))!();
        },
        ...(changedAt ? { changedAt } : {}),
        ...(version.deprecationWarning === undefined ? {} : { warning: version.deprecationWarning }),
      };
    });
}
