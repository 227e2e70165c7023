import type { Group, GroupVersion, Registry, Resource, Subresource } from '../../schema/resource.js';
import {
  servedGroups,
  hasOtherGroupVersion,
  sortedResources,
  servedVersions,
  sortedSubresources,
  sortedVerbs,
} from './plain.js';

/** Versions of aggregated discovery, newest first. */
export const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const;

/**
 * The kind of answers. In upstream's documents, those of built-in kinds have no group and version of their own:
 * clients take them from the document around.
 */
const ownKind = (resource: Resource, kind: string): object =>
  resource.builtIn ? { group: '', version: '', kind } : { group: resource.group, version: resource.version, kind };

const subresourceEntry = (resource: Resource, sub: Subresource): object => ({
  subresource: sub.name,
  responseKind: hasOtherGroupVersion(resource, sub)
    ? { group: sub.group, version: sub.version, kind: sub.kind }
    : ownKind(resource, sub.kind),
  verbs: sortedVerbs(resource, sub.verbs),
});

const resourceEntry = (resource: Resource): object => ({
  resource: resource.plural,
  responseKind: ownKind(resource, resource.kind),
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.singular,
  verbs: sortedVerbs(resource, resource.discoveredVerbs ?? resource.verbs),
  ...(resource.shortNames.length ? { shortNames: resource.shortNames } : {}),
  ...(resource.categories.length ? { categories: resource.categories } : {}),
  ...(resource.subresources.size
    ? { subresources: sortedSubresources(resource).map(sub => subresourceEntry(resource, sub)) }
    : {}),
});

const versionEntry = (version: GroupVersion): object => ({
  version: version.version,
  resources: sortedResources(version).map(resourceEntry),
  freshness: 'Current',
});

const groupEntry = (group: Group): object => ({
  metadata: { ...(group.name ? { name: group.name } : {}), creationTimestamp: null },
  versions: servedVersions(group).map(versionEntry),
});

/** The aggregated discovery document at `/api` (`core`) or `/apis`. `apiVersion` is that of the document itself. */
export function aggregatedDocument(registry: Registry, apiVersion: string, core: boolean) {
  const coreGroup = registry.groups.get('');
  const groups = core ? (coreGroup ? [coreGroup] : []) : servedGroups(registry);
  return { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: groups.map(groupEntry) };
}
