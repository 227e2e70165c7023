import {
  type ApiObject,
  definePlugin,
  type ResourceColumn,
  type ResourceSource,
  resourceSource,
  type ResourceSubresources,
  type ResourceType,
  type ResourceVersion,
  type StructuralSchema,
} from '../../../core/api/index.js';
import { compareVersions } from '../../../core/schema/registry.js';
import { at, list, type Rec, strings, text } from '../record.js';

/** Storage name of the definitions, in neutral names. */
export const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';

/** Whether a condition of the definition is true. */
export const holds = (definition: unknown, type: string): boolean =>
  list(at(definition, 'status'), 'conditions').some(
    condition => condition.type === type && condition.status === 'True',
  );

/** What a deprecated version tells its clients: its own words, or where to go. */
function warningOf(definition: Rec, version: Rec): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (typeof version.deprecationWarning === 'string') return version.deprecationWarning;
  const [group, kind, name] = [text(definition, 'group'), text(at(definition, 'names'), 'kind'), text(version, 'name')];
  const newer = list(definition, 'versions')
    .filter(
      other => other.served === true && other.deprecated !== true && compareVersions(text(other, 'name'), name) < 0,
    )
    .map(other => text(other, 'name'))
    .sort(compareVersions);
  const advice = newer[0] === undefined ? '' : `; use ${group}/${newer[0]} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${advice}`;
}

function versionOf(definition: Rec, version: Rec): ResourceVersion {
  const columns = list(version, 'additionalPrinterColumns');
  const selectable = list(version, 'selectableFields').map(field => text(field, 'jsonPath'));
  const warning = warningOf(definition, version);
  const subresources = at(version, 'subresources') as ResourceSubresources | undefined;
  return {
    name: text(version, 'name'),
    served: version.served === true,
    storage: version.storage === true,
    schema: (at(version, 'schema', 'openAPIV3Schema') ?? { type: 'object' }) as StructuralSchema,
    ...(subresources ? { subresources } : {}),
    ...(columns.length > 0 ? { columns: columns as unknown as readonly ResourceColumn[] } : {}),
    ...(selectable.length > 0 ? { selectableFields: selectable } : {}),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
}

/** The resource type that a definition describes, undefined until its names are settled. */
export function typeOf(definition: ApiObject): ResourceType | undefined {
  const spec = at(definition, 'spec');
  const names = at(definition, 'status', 'acceptedNames');
  if (!spec || !names || !holds(definition, 'Established')) return undefined;
  const { generation = 1, resourceVersion, deletionTimestamp } = definition.metadata;
  const versions = list(spec, 'versions').map(version => versionOf(spec, version));
  // Whatever is left of a type that goes must be reachable, to be removed.
  const hidden = deletionTimestamp && !versions.some(version => version.served);
  return {
    group: text(spec, 'group'),
    kind: text(names, 'kind'),
    listKind: text(names, 'listKind'),
    plural: text(names, 'plural'),
    singular: text(names, 'singular'),
    shortNames: strings(names, 'shortNames'),
    categories: strings(names, 'categories'),
    scope: spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    versions: hidden ? versions.map(version => ({ ...version, served: version.storage })) : versions,
    ...(deletionTimestamp ? { terminating: true } : {}),
    // A first generation has had one schema only.
    ...(generation > 1 ? { changedAt: Number(resourceVersion) } : {}),
  };
}

/** Definitions of custom resources define resource types. */
export default definePlugin({
  name: 'resources/custom-resources',
  parse: () => undefined,
  contribute: () => [resourceSource.of((): ResourceSource => ({ storageName: DEFINITIONS, define: typeOf }))],
});
