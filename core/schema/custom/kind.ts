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
import { namesIn } from './jsonPath.js';
import { embeddedViolations, customSchema } from './customSchema.js';
import { hasRules, needsEngine } from './prune.js';
import { type Rule, rulesOf } from './rules.js';
import { structFor } from './types.js';
import { duplicatesIn, schemaViolations, WHOLE_OBJECT } from './validate.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];
/** Largest number of replicas a scale holds. */
const MOST_REPLICAS = 2 ** 31 - 1;

const fieldText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Selectors name the fields without the path's first dot. */
const selectable = (version: ResourceVersion): Strategy['selectableFields'] =>
  new Map(
    (version.selectableFields ?? []).map(path => {
      const names = namesIn(path) ?? [];
      return [names.join('.'), (object: ApiObject) => fieldText(reach(object, names))];
    }),
  );

function scaleOf(version: ResourceVersion): Strategy['scale'] {
  const scale = version.subresources?.scale;
  if (!scale) return undefined;
  const selector = scale.labelSelectorPath ? namesIn(scale.labelSelectorPath) : undefined;
  return {
    spec: namesIn(scale.specReplicasPath) ?? [scale.specReplicasPath],
    status: namesIn(scale.statusReplicasPath) ?? [scale.statusReplicasPath],
    selector: object => (selector ? fieldText(reach(object, selector)) : ''),
    absentMessage: `the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`,
  };
}

function replicaViolations(object: ApiObject, version: ResourceVersion): Violation[] {
  const scale = version.subresources?.scale;
  if (!scale) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap(path => {
    const count = reach(object, namesIn(path) ?? [path]);
    if (typeof count !== 'number') return [];
    if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
    return count > MOST_REPLICAS ? [invalid(path, count, `should be less than or equal to ${MOST_REPLICAS}`)] : [];
  });
}

/** Findings that leave too little of an object for its rules to be asked. */
const BLOCKING = new Set([
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
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** Everything that is wrong with an object of the version. */
function violationsOf(type: ResourceType, version: ResourceVersion, rules: () => Rule | undefined) {
  const { schema } = version;
  return (object: ApiObject, old: ApiObject | undefined, context: StrategyContext): Violation[] => {
    const value = object as unknown as Json;
    const found = [
      ...schemaViolations(value, schema, '', old as unknown as Json),
      ...duplicatesIn(value, schema, ''),
      ...embeddedViolations(object, schema),
      ...replicaViolations(object, version),
    ];
    const compiled = rules();
    const blocked = found.some(violation => BLOCKING.has(violation.reason));
    const ask = (rule: Rule): Violation[] =>
      rule(value, old as unknown as Json | undefined, text => context.warn?.(text));
    const ruled = !compiled ? [] : blocked ? [NOT_CHECKED] : ask(compiled);
    return [...found, ...ruled, ...(type.validate && !blocked ? type.validate(object, old) : [])];
  };
}

const withoutStatus = ({ metadata: _metadata, status: _status, ...content }: ApiObject): object => content;
const withoutMetadata = ({ metadata: _metadata, ...content }: ApiObject): object => content;

/**
 * A write of the status changes nothing else, not even labels: of metadata only what the server itself keeps moves on.
 */
function keepMetadata(object: ApiObject, { metadata }: ApiObject): void {
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
  let rules: { readonly compiled: Rule | undefined } | undefined;
  const violations = violationsOf(
    type,
    version,
    () => (rules ??= { compiled: hasRules(version.schema) ? rulesOf(version.schema) : undefined }).compiled,
  );
  const hasStatus = Boolean(version.subresources?.status);
  const content = hasStatus ? withoutStatus : withoutMetadata;
  return completeStrategy({
    allowAnyFinalizer: true,
    hasGeneration: true,
    changesGeneration: (object, old) => !isDeepStrictEqual(content(object), content(old)),
    hasStatus,
    allowUnconditionalUpdate: false,
    prepareStatus: keepMetadata,
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
    selectableFields: selectable(version),
    columns: columnsOf(version.columns),
    scale: scaleOf(version),
    convert: (object, apiVersion) => schemaFor(apiVersion)?.read(object) ?? { ...object, apiVersion },
  });
}

function subresourcesOf(type: ResourceType, version: ResourceVersion): Map<string, Subresource> {
  const found = new Map<string, Subresource>();
  const { status, scale } = version.subresources ?? {};
  const own = { kind: type.kind, group: type.group, version: version.name, verbs: SUBRESOURCE_VERBS };
  if (status) found.set('status', { name: 'status', ...own });
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

/** What depends on a whole schema is made when first asked for: most processes hold more types than they use. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The served versions of a resource type as resources of a registry; they look like built-in ones to generic code. */
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
      const struct = lazy(() => structFor(version.schema, `${apiVersionOf(version)}.${kind}`));
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
