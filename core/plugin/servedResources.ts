import type { DefinedResource, ResourceRef, Resources, ServedResource } from '../api/client/reference.js';
import type { ApiObject } from '../model/object.js';
import { customStorageName } from '../model/wellKnown/storageNames.js';
import { isTaken, namesIn } from '../schema/registry/takenNames.js';
import type { Registry } from '../schema/resource.js';
import { storageNameOf } from './resourceNames.js';

/** The resources that a server has when it starts, as they are described to the control thread. */
export interface FixedResources {
  /** Each in its storage version, then in all served ones. */
  readonly resources: readonly ServedResource[];
  /**
   * `<plural>.<group>` and `<kind>.<group>` of all kinds. A definition with such a name is not served: its paths are
   * those of the other kind.
   */
  readonly takenNames: readonly string[];
}

/** The parts of a CustomResourceDefinition that determine the served resources. */
interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
}

/** The resources of a registry, as the control thread gets them when it starts. */
export function fixedResourcesOf(registry: Registry): FixedResources {
  const all = [...registry.groups.values()].flatMap(({ versions }) =>
    versions.flatMap(({ served, resources }) =>
      Array.from(resources.values(), resource => ({ isServed: served, resource })).filter(one => one.resource.stored),
    ),
  );
  const served = all.filter(({ isServed }) => isServed).map(({ resource }) => resource);
  return {
    resources: [...registry.stored, ...served].map(
      ({ apiVersion, kind, plural, namespaced, storageName, verbs }): ServedResource => ({
        apiVersion,
        kind,
        plural,
        namespaced,
        storageName,
        verbs,
      }),
    ),
    takenNames: [...namesIn(registry)],
  };
}

const ALL_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** Whether a definition is established. Before, its objects cannot be requested. */
const isEstablished = (definition: ApiObject): boolean =>
  (definition.status as { conditions?: { type: string; status: string }[] | null } | undefined)?.conditions?.some(
    condition => condition.type === 'Established' && condition.status === 'True',
  ) ?? false;

const isDefined = (resource: ResourceRef): resource is DefinedResource => typeof resource === 'object';

/** The served resources: those of the server, and those of definitions, which are added as they are established. */
export class ServedResources implements Resources {
  readonly #byStorageName = new Map<string, ServedResource>();
  readonly #byKind = new Map<string, ServedResource>();
  readonly #takenNames: ReadonlySet<string>;

  constructor({ resources, takenNames }: FixedResources) {
    this.#takenNames = new Set(takenNames);
    for (const resource of resources) this.#add(resource);
  }

  list(): readonly ServedResource[] {
    return [...this.#byStorageName.values()];
  }

  find(resource: ResourceRef): ServedResource | undefined {
    const found = this.byStorageName(this.storageNameOf(resource));
    if (!found || !isDefined(resource)) return found;
    const { name } = resource.versions.find(({ storage }) => storage) ?? resource.versions[0]!;
    return this.byKind(`${resource.group}/${name}`, resource.kind) ?? found;
  }

  byKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  byStorageName(storageName: string): ServedResource | undefined {
    return this.#byStorageName.get(storageName);
  }

  storageNameOf(resource: ResourceRef): string {
    return storageNameOf(resource);
  }

  /** Adds or replaces the resources of a definition. */
  addDefinition(definition: ApiObject): void {
    const spec = definition.spec as DefinitionSpec;
    if (!isEstablished(definition) || isTaken(spec, this.#takenNames)) return;
    const storageName = customStorageName({ group: spec.group, plural: spec.names.plural });
    this.#byStorageName.delete(storageName);
    for (const version of spec.versions.filter(v => v.served)) {
      this.#add({
        apiVersion: `${spec.group}/${version.name}`,
        kind: spec.names.kind,
        plural: spec.names.plural,
        namespaced: spec.scope === 'Namespaced',
        storageName,
        verbs: ALL_VERBS,
      });
    }
  }

  #add(resource: ServedResource): void {
    if (!this.#byStorageName.has(resource.storageName)) this.#byStorageName.set(resource.storageName, resource);
    this.#byKind.set(`${resource.apiVersion}/${resource.kind}`, resource);
  }
}
