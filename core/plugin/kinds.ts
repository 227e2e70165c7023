import type { Kinds } from '../api/host.js';
import type { ApiObject } from '../model/object.js';
import type { Registry, Resource } from '../schema/resource.js';

/** A stored object in the version of a resource. */
const inVersion = ({ custom, strategy, apiVersion }: Resource, object: ApiObject): ApiObject => {
  if (custom) return custom.read(object);
  if (object.apiVersion === apiVersion) return object;
  return strategy.convert?.(object, apiVersion) ?? { ...object, apiVersion };
};

/** The kinds of a registry, which may change, as plugins see them. */
export const kindsOf = (registry: () => Registry): Kinds => ({
  find(apiVersion, kind) {
    const found = registry().byKind(apiVersion, kind);
    if (!found?.stored) return undefined;
    const { storageName, group, version, plural: resource, namespaced } = found;
    return { storageName, group, version, resource, namespaced, read: object => inVersion(found, object) };
  },
  neutralGroup: group => registry().groups.get(group)?.neutralName ?? group,
});
