import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../../kinds/apiextensions/v1.js';
import {
  type ResourceColumn,
  resourceSource,
  type ResourceSource,
  type ResourceSubresources,
  type ResourceType,
  type ResourceVersion,
  type StructuralSchema,
} from '../../../../core/api/index.js';
import { compareVersions } from '../../../../core/schema/registry/versionNames.js';

/** Storage name of the definitions. */
export const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';

/** Whether a condition of the definition has the status True. */
export const isConditionTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  (definition.status?.conditions ?? []).some(condition => condition.type === type && condition.status === 'True');

/**
 * The Warning of a deprecated version: its own text, or one that recommends the newest version that is not deprecated.
 */
function warningOf(
  definition: CustomResourceDefinitionSpec,
  version: CustomResourceDefinitionVersion,
): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (typeof version.deprecationWarning === 'string') return version.deprecationWarning;
  const [group, kind, name] = [definition.group, definition.names.kind, version.name];
  const newer = (definition.versions ?? [])
    .filter(other => other.served === true && other.deprecated !== true && compareVersions(other.name, name) < 0)
    .map(other => other.name)
    .sort(compareVersions);
  const advice = newer[0] === undefined ? '' : `; use ${group}/${newer[0]} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${advice}`;
}

function versionOf(
  definition: CustomResourceDefinitionSpec,
  version: CustomResourceDefinitionVersion,
): ResourceVersion {
  const columns = version.additionalPrinterColumns ?? [];
  const selectable = (version.selectableFields ?? []).map(field => field.jsonPath);
  const warning = warningOf(definition, version);
  const subresources = version.subresources as ResourceSubresources | undefined;
  return {
    name: version.name,
    served: version.served === true,
    storage: version.storage === true,
    schema: (version.schema?.openAPIV3Schema ?? { type: 'object' }) as StructuralSchema,
    ...(subresources ? { subresources } : {}),
    ...(columns.length > 0 ? { columns: columns as unknown as readonly ResourceColumn[] } : {}),
    ...(selectable.length > 0 ? { selectableFields: selectable } : {}),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
}

/** The webhook that converts the objects of a definition. */
function webhookOf(spec: CustomResourceDefinitionSpec): Pick<ResourceType, 'conversionWebhook'> {
  const webhook = spec.conversion?.webhook;
  if ((spec.conversion?.strategy ?? '') !== 'Webhook' || !webhook) return {};
  const clientConfig = webhook.clientConfig ?? {};
  return { conversionWebhook: { clientConfig, reviewVersions: webhook.conversionReviewVersions ?? [] } };
}

/** The resource type that a definition describes; undefined until its names are accepted. */
export function typeOf(definition: CustomResourceDefinition): ResourceType | undefined {
  const spec = definition.spec;
  const names = definition.status?.acceptedNames;
  if (!spec || !names || !isConditionTrue(definition, 'Established')) return undefined;
  const { plural } = spec.names;
  // The keys of the objects contain it: a user who may write the status must not choose the keys of other kinds.
  if (names.plural !== plural) return undefined;
  const { generation = 1, resourceVersion, deletionTimestamp } = definition.metadata;
  const versions = (spec.versions ?? []).map(version => versionOf(spec, version));
  // Objects of a definition that is being deleted remain reachable, so that they can be deleted.
  const hidden = deletionTimestamp && !versions.some(version => version.served);
  return {
    group: spec.group,
    kind: names.kind,
    listKind: names.listKind ?? '',
    plural,
    singular: names.singular ?? '',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
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
