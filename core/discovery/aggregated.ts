import type { Group, GroupVersion, Registry, Resource, Subresource } from '../schema/resource.js';
import { groupsOf, isForeign, resourcesOf, servedOf, subresourcesOf, verbsOf } from './plain.js';

/** Versions of the aggregated form, best first. */
export const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const;

/**
 * Kinds in the parent's own group and version are given without them; clients fill them in from the enclosing version.
 */
const subresourceEntry = (resource: Resource, sub: Subresource): object => ({
  subresource: sub.name,
  responseKind: isForeign(resource, sub)
    ? { group: sub.group, version: sub.version, kind: sub.kind }
    : { group: '', version: '', kind: sub.kind },
  verbs: verbsOf(resource, sub.verbs),
});

const resourceEntry = (resource: Resource): object => ({
  resource: resource.plural,
  responseKind: resource.builtIn
    ? { group: '', version: '', kind: resource.kind }
    : { group: resource.group, version: resource.version, kind: resource.kind },
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.singular,
  verbs: verbsOf(resource, resource.verbs),
  ...(resource.shortNames.length ? { shortNames: resource.shortNames } : {}),
  ...(resource.categories.length ? { categories: resource.categories } : {}),
  ...(resource.subresources.size
    ? { subresources: subresourcesOf(resource).map(sub => subresourceEntry(resource, sub)) }
    : {}),
});

const versionEntry = (version: GroupVersion): object => ({
  version: version.version,
  resources: resourcesOf(version).map(resourceEntry),
  freshness: 'Current',
});

const groupEntry = (group: Group): object => ({
  metadata: { ...(group.name ? { name: group.name } : {}), creationTimestamp: null },
  versions: servedOf(group).map(versionEntry),
});

/**
 * The aggregated document at `/api` (`core`) or `/apis`: all groups, versions and resources at once. `apiVersion` names
 * its own version.
 */
export function aggregatedList(registry: Registry, apiVersion: string, core: boolean): object {
  const legacy = registry.groups.get('');
  const groups = core ? (legacy ? [legacy] : []) : groupsOf(registry);
  return { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: groups.map(groupEntry) };
}
