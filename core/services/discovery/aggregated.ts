import { encodeJson } from '../../schema/json/json.js';
import type { GroupVersion, Resource, Subresource } from '../../schema/resource.js';
import { isOther, type OtherVersion, type ShownGroup } from './otherServers.js';
import { hasOtherGroupVersion, sortedResources, servedVersions, sortedSubresources, sortedVerbs } from './plain.js';

/** The end of the JSON of a document without entries. */
const EMPTY_END = '[]}';

/** Versions of aggregated discovery, newest first. */
export const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const;

/**
 * The kind of answers. In upstream's documents, those of built-in kinds have no group and version of their own: clients
 * take them from the enclosing document.
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

const versionEntry = (version: GroupVersion | OtherVersion): object => {
  const resources = isOther(version) ? version.entries : sortedResources(version).map(resourceEntry);
  return {
    version: version.version,
    ...(resources.length > 0 || !isOther(version) ? { resources } : {}),
    freshness: isOther(version) && !version.isCurrent ? 'Stale' : 'Current',
  };
};

const groupEntry = (group: ShownGroup): object => ({
  metadata: { ...(group.name ? { name: group.name } : {}), creationTimestamp: null },
  versions: servedVersions(group).map(versionEntry),
});

/** The JSON of the entries of groups. Registries share groups that did not change. */
const entryTexts = new WeakMap<ShownGroup, string>();

function entryText(group: ShownGroup): string {
  const known = entryTexts.get(group);
  if (known !== undefined) return known;
  const text = encodeJson(groupEntry(group));
  entryTexts.set(group, text);
  return text;
}

const documentOf = (apiVersion: string, items: readonly object[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion,
  metadata: {},
  items,
});

/** The aggregated discovery document of groups. `apiVersion` is that of the document itself. */
export const aggregatedDocument = (groups: readonly ShownGroup[], apiVersion: string) =>
  documentOf(apiVersion, groups.map(groupEntry));

/** The same document as JSON in one line. Only the entries of groups that have changed are encoded. */
export function aggregatedJson(groups: readonly ShownGroup[], apiVersion: string): string {
  const empty = encodeJson(documentOf(apiVersion, []));
  const items = groups.map(entryText).join(',');
  return `${empty.slice(0, -EMPTY_END.length)}[${items}]}\n`;
}
