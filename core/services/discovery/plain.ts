import { createHash } from 'node:crypto';
import type { Group, GroupVersion, Registry, Resource, Subresource } from '../../schema/resource.js';

/** The order of the verbs of custom kinds. Those of built-in kinds are sorted by name. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** The order of the subresources of custom kinds. */
const CUSTOM_SUBRESOURCES = ['status', 'scale'];

/** Verbs in the order of discovery documents. */
export const sortedVerbs = (resource: Resource, verbs: readonly string[]): string[] =>
  resource.builtIn || verbs !== resource.verbs
    ? [...verbs].sort()
    : [...verbs].sort((a, b) => CUSTOM_VERBS.indexOf(a) - CUSTOM_VERBS.indexOf(b));

/** Subresources in the order of discovery documents. */
export const sortedSubresources = (resource: Resource): Subresource[] =>
  [...resource.subresources.values()].sort((a, b) =>
    resource.builtIn
      ? a.name < b.name
        ? -1
        : 1
      : CUSTOM_SUBRESOURCES.indexOf(a.name) - CUSTOM_SUBRESOURCES.indexOf(b.name),
  );

/** Resources sorted by plural name. */
export const sortedResources = (version: GroupVersion): Resource[] =>
  [...version.resources.values()].sort((a, b) => (a.plural < b.plural ? -1 : 1));

/** The served groups of registries, cached because several documents need them. */
const sortedGroups = new WeakMap<Registry, readonly Group[]>();

/** Groups with served versions except the core group, sorted by priority, then by name. */
export function servedGroups(registry: Registry): readonly Group[] {
  const known = sortedGroups.get(registry);
  if (known) return known;
  const groups = [...registry.groups.values()]
    .filter(group => group.name !== '' && group.versions.some(({ served }) => served))
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  sortedGroups.set(registry, groups);
  return groups;
}

/** Whether the group has built-in kinds. */
export const hasBuiltInKinds = (registry: Registry, group: string): boolean =>
  registry.groups
    .get(group)
    ?.versions.some(version => [...version.resources.values()].some(resource => resource.builtIn)) === true;

/** The served versions of a group in order of preference. */
export const servedVersions = <Version extends Pick<GroupVersion, 'served'>>(group: {
  readonly versions: readonly Version[];
}): Version[] => group.versions.filter(version => version.served);

/**
 * A hash that changes with the storage version: the first eight bytes of the SHA-256 of `group/version/Kind` in base64,
 * which is upstream's hash.
 */
export function storageVersionHash(storageApiVersion: string, kind: string): string {
  const full = storageApiVersion.includes('/') ? storageApiVersion : `/${storageApiVersion}`;
  return createHash('sha256').update(`${full}/${kind}`).digest().subarray(0, 8).toString('base64');
}

/** The document at `/api`. */
export const apiVersions = (registry: Registry, serverAddress: string): object => ({
  kind: 'APIVersions',
  versions: servedVersions(registry.groups.get('') ?? { name: '', priority: 0, preferred: '', versions: [] }).map(
    v => v.version,
  ),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

/** A group whose versions are known by name. */
type NamedGroup = Pick<Group, 'name' | 'preferred'> & {
  readonly versions: readonly Pick<GroupVersion, 'version' | 'apiVersion' | 'served'>[];
};

const groupBody = (group: NamedGroup): object => {
  const versions = servedVersions(group).map(v => ({ groupVersion: v.apiVersion, version: v.version }));
  const preferred = versions.find(v => v.version === group.preferred) ?? versions[0];
  return { name: group.name, versions, preferredVersion: preferred };
};

/** The document at `/apis`. */
export const groupList = (groups: readonly NamedGroup[]): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.map(groupBody),
});

/** The document at `/apis/<group>`. */
export const groupDocument = (group: NamedGroup): object => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupBody(group),
});

const resourceEntry = (resource: Resource): object => ({
  name: resource.plural,
  singularName: resource.singular,
  namespaced: resource.namespaced,
  kind: resource.kind,
  verbs: sortedVerbs(resource, resource.discoveredVerbs ?? resource.verbs),
  ...(resource.shortNames.length ? { shortNames: resource.shortNames } : {}),
  ...(resource.categories.length ? { categories: resource.categories } : {}),
  ...(resource.stored && !resource.hidesStorageVersion
    ? { storageVersionHash: storageVersionHash(resource.storageApiVersion, resource.kind) }
    : {}),
});

const subresourceEntry = (resource: Resource, sub: Subresource): object => ({
  name: `${resource.plural}/${sub.name}`,
  singularName: '',
  namespaced: resource.namespaced,
  ...(hasOtherGroupVersion(resource, sub) ? { group: sub.group, version: sub.version } : {}),
  kind: sub.kind,
  verbs: sortedVerbs(resource, sub.verbs),
});

/** Whether a subresource's kind has another group or version than its parent. */
export const hasOtherGroupVersion = (resource: Resource, sub: Subresource): boolean =>
  sub.group !== resource.group || sub.version !== resource.version;

/** The document at `/api/v1` or `/apis/<group>/<version>`. */
export const resourceList = (version: GroupVersion): object => ({
  kind: 'APIResourceList',
  ...(version.group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: version.apiVersion,
  resources: sortedResources(version).flatMap(resource => [
    resourceEntry(resource),
    ...sortedSubresources(resource).map(sub => subresourceEntry(resource, sub)),
  ]),
});
