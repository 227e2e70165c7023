import { type ApiObject, ConfigError, customStorageName } from '../../core/api/index.js';

/** A stored resource in one of its served versions. In lists, the preferred version comes first. */
export interface ControlledResource {
  /** In the server's naming. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Equal for all versions. */
  readonly storageName: string;
  readonly verbs: readonly string[];
}

/** Configuration of the controllers that process all resources. */
export interface ResourcesConfig {
  readonly resources: readonly ControlledResource[];
  /**
   * `<plural>.<group>` and `<kind>.<group>` of all kinds that do not come from definitions. A definition with such a
   * name is not served: its paths are those of the other kind.
   */
  readonly takenNames: readonly string[];
}

/** Storage name of CustomResourceDefinitions. */
export const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';

const ALL_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

const isResource = (value: unknown): value is ControlledResource => {
  const r = value as Partial<ControlledResource> | null;
  return (
    typeof r === 'object' &&
    r !== null &&
    [r.apiVersion, r.kind, r.plural, r.storageName].every(text => typeof text === 'string') &&
    typeof r.namespaced === 'boolean' &&
    Array.isArray(r.verbs)
  );
};

/** Parses what the server generates from its registry. Throws ConfigError. */
export function parseResources(config: unknown): ResourcesConfig {
  const { resources, takenNames } = (config ?? {}) as { resources?: unknown; takenNames?: unknown };
  if (!Array.isArray(resources)) throw new ConfigError('config.resources', 'must be a list of resources');
  const bad = resources.findIndex(resource => !isResource(resource));
  if (bad >= 0)
    throw new ConfigError(`config.resources[${bad}]`, 'needs apiVersion, kind, plural, namespaced, storageName, verbs');
  if (!Array.isArray(takenNames) || !takenNames.every(name => typeof name === 'string'))
    throw new ConfigError('config.takenNames', 'must be a list of names');
  return { resources, takenNames };
}

/** The parts of a CustomResourceDefinition that determine the served resources. */
interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** Whether a definition has a name of a kind that does not come from definitions. */
export const isTaken = (
  { group, names }: Pick<DefinitionSpec, 'group' | 'names'>,
  takenNames: ReadonlySet<string>,
): boolean => takenNames.has(`${names.plural}.${group}`) || takenNames.has(`${names.kind}.${group}`);

/** Whether a definition is established. Before, its objects cannot be requested. */
const isEstablished = (definition: ApiObject): boolean =>
  (definition.status as { conditions?: { type: string; status: string }[] | null } | undefined)?.conditions?.some(
    condition => condition.type === 'Established' && condition.status === 'True',
  ) ?? false;

/** The served resources: those of the configuration and those of definitions. */
export class Catalog {
  readonly #byStorageName = new Map<string, ControlledResource>();
  readonly #byKind = new Map<string, ControlledResource>();
  readonly #takenNames: ReadonlySet<string>;

  constructor({ resources, takenNames }: ResourcesConfig) {
    this.#takenNames = new Set(takenNames);
    for (const resource of resources) this.#add(resource);
  }

  /** The preferred version of the resource with a storage name. */
  byStorageName(storageName: string): ControlledResource | undefined {
    return this.#byStorageName.get(storageName);
  }

  /** The resource of a kind; undefined if it is not served. */
  byKind(apiVersion: string, kind: string): ControlledResource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** Adds or replaces the resources of a definition. Returns the API versions that were not served before. */
  addDefinition(definition: ApiObject): ReadonlySet<string> {
    const added = new Set<string>();
    const spec = definition.spec as DefinitionSpec;
    if (!isEstablished(definition) || isTaken(spec, this.#takenNames)) return added;
    const storageName = customStorageName({ group: spec.group, plural: spec.names.plural });
    this.#byStorageName.delete(storageName);
    for (const version of spec.versions.filter(v => v.served)) {
      const apiVersion = `${spec.group}/${version.name}`;
      if (!this.byKind(apiVersion, spec.names.kind)) added.add(apiVersion);
      this.#add({
        apiVersion,
        kind: spec.names.kind,
        plural: spec.names.plural,
        namespaced: spec.scope === 'Namespaced',
        storageName,
        verbs: ALL_VERBS,
      });
    }
    return added;
  }

  #add(resource: ControlledResource): void {
    if (!this.#byStorageName.has(resource.storageName)) this.#byStorageName.set(resource.storageName, resource);
    this.#byKind.set(`${resource.apiVersion}/${resource.kind}`, resource);
  }
}

/** The path of a collection or, with `name`, of an object in `namespace` ('' for cluster scope). */
export function pathOf(
  resource: { readonly apiVersion: string; readonly plural: string },
  namespace: string,
  name?: string,
): string {
  const { apiVersion, plural } = resource;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
