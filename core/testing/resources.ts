import type { DefinedResource, ResourceRef } from '../api/client/reference.js';
import type { ApiObject } from '../model/object.js';
import type { NamingName } from '../naming.js';
import { builtInRegistry } from '../plugin/registry.js';
import { fixedResourcesOf, ServedResources } from '../plugin/servedResources.js';

/** A definition that makes the server serve a type. */
const definitionOf = ({ group, kind, plural, scope, versions }: DefinedResource): ApiObject => ({
  apiVersion: 'apiextensions/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, scope, names: { plural, kind }, versions: versions.map(one => ({ served: true, ...one })) },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
});

/** The resources of a fake host: the built-in ones, those of definitions, and every requested type. */
class FakeResources extends ServedResources {
  override storageNameOf(resource: ResourceRef): string {
    const storageName = super.storageNameOf(resource);
    if (typeof resource === 'object' && !this.byStorageName(storageName)) this.addDefinition(definitionOf(resource));
    return storageName;
  }
}

/** The resources of a fake host with a naming. */
export const fakeResources = (naming: NamingName): ServedResources =>
  new FakeResources(fixedResourcesOf(builtInRegistry(naming, new Map())));
