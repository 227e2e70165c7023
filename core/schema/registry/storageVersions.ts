import type { GroupVersion, Registry } from '../resource.js';

/** The versions of each stored kind, served or not, in the order of preference of their groups. */
function versionsByKind(registry: Registry): ReadonlyMap<string, readonly GroupVersion[]> {
  const found = new Map<string, GroupVersion[]>();
  for (const { versions } of registry.groups.values())
    for (const version of versions)
      for (const { storageName } of version.resources.values())
        found.set(storageName, [...(found.get(storageName) ?? []), version]);
  return found;
}

/**
 * For each kind that is served and stored: the version in the store, the versions that can be read, and the served
 * ones.
 */
export function storageVersionsOf(registry: Registry) {
  const byKind = versionsByKind(registry);
  return registry.stored.map(({ group, plural, storageName, storageApiVersion }) => {
    const all = byKind.get(storageName)!;
    const own = all.filter(version => version.group === group);
    const served = own.filter(version => version.served).map(({ apiVersion }) => apiVersion);
    return {
      name: `${group || 'core'}.${plural}`,
      encodingVersion: storageApiVersion,
      // Events are in two groups.
      decodableVersions: [...new Set([...own, ...all])].map(({ apiVersion }) => apiVersion),
      servedVersions: served.sort(),
    };
  });
}
