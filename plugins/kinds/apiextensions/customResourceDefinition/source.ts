import {
  type ApiObject,
  type ResourceColumn,
  resourceSource,
  type ResourceSource,
  type ResourceSubresources,
  type ResourceType,
  type ResourceVersion,
  type StructuralSchema,
} from '../../../../core/api/index.js';
import { recordAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../../../core/model/record.js';
import { compareVersions } from '../../../../core/schema/registry.js';

/** Storage name of the definitions. */
export const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';

/** Whether a condition of the definition has the status True. */
export const isConditionTrue = (definition: unknown, type: string): boolean =>
  recordsAt(definition, 'status', 'conditions').some(
    condition => condition.type === type && condition.status === 'True',
  );

/**
 * The Warning of a deprecated version: its own text, or one that recommends the newest version that is not deprecated.
 */
function warningOf(definition: UnknownRecord, version: UnknownRecord): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (typeof version.deprecationWarning === 'string') return version.deprecationWarning;
  const [group, kind, name] = [
    stringAt(definition, 'group'),
    stringAt(definition, 'names', 'kind'),
    stringAt(version, 'name'),
  ];
  const newer = recordsAt(definition, 'versions')
    .filter(
      other => other.served === true && other.deprecated !== true && compareVersions(stringAt(other, 'name'), name) < 0,
    )
    .map(other => stringAt(other, 'name'))
    .sort(compareVersions);
  const advice = newer[0] === undefined ? '' : `; use ${group}/${newer[0]} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${advice}`;
}

function versionOf(definition: UnknownRecord, version: UnknownRecord): ResourceVersion {
  const columns = recordsAt(version, 'additionalPrinterColumns');
  const selectable = recordsAt(version, 'selectableFields').map(field => stringAt(field, 'jsonPath'));
  const warning = warningOf(definition, version);
  const subresources = recordAt(version, 'subresources') as ResourceSubresources | undefined;
  return {
    name: stringAt(version, 'name'),
    served: version.served === true,
    storage: version.storage === true,
    schema: (recordAt(version, 'schema', 'openAPIV3Schema') ?? { type: 'object' }) as StructuralSchema,
    ...(subresources ? { subresources } : {}),
    ...(columns.length > 0 ? { columns: columns as unknown as readonly ResourceColumn[] } : {}),
    ...(selectable.length > 0 ? { selectableFields: selectable } : {}),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
}

/** The webhook that converts the objects of a definition. */
function webhookOf(spec: UnknownRecord): Pick<ResourceType, 'conversionWebhook'> {
  const webhook = recordAt(spec, 'conversion', 'webhook');
  if (stringAt(spec, 'conversion', 'strategy') !== 'Webhook' || !webhook) return {};
  const clientConfig = recordAt(webhook, 'clientConfig') ?? {};
  return { conversionWebhook: { clientConfig, reviewVersions: stringsAt(webhook, 'conversionReviewVersions') } };
}

/** The resource type that a definition describes; undefined until its names are accepted. */
export function typeOf(definition: ApiObject): ResourceType | undefined {
  const spec = recordAt(definition, 'spec');
  const names = recordAt(definition, 'status', 'acceptedNames');
  if (!spec || !names || !isConditionTrue(definition, 'Established')) return undefined;
  const plural = stringAt(spec, 'names', 'plural');
  // The keys of the objects have it: who may write the status must not choose those of others.
  if (stringAt(names, 'plural') !== plural) return undefined;
  const { generation = 1, resourceVersion, deletionTimestamp } = definition.metadata;
  const versions = recordsAt(spec, 'versions').map(version => versionOf(spec, version));
  // Objects of a definition that is being deleted remain reachable, so that they can be deleted.
  const hidden = deletionTimestamp && !versions.some(version => version.served);
  return {
    group: stringAt(spec, 'group'),
    kind: stringAt(names, 'kind'),
    listKind: stringAt(names, 'listKind'),
    plural,
    singular: stringAt(names, 'singular'),
    shortNames: stringsAt(names, 'shortNames'),
    categories: stringsAt(names, 'categories'),
    scope: spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    versions: hidden ? versions.map(version => ({ ...version, served: version.storage })) : versions,
    ...webhookOf(spec),
    ...(deletionTimestamp ? { terminating: true } : {}),
    // In the first generation, the schema has never changed.
    ...(generation > 1 ? { changedAt: Number(resourceVersion) } : {}),
  };
}

/** Definitions of custom resources define resource types. */
export const definitions = resourceSource.of((): ResourceSource => ({ storageName: DEFINITIONS, define: typeOf }));
