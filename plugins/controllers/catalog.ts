import { type ApiObject, ConfigError } from '../../core/api/index.js';

/** A stored resource as controllers address it: one entry per served version, the preferred one first. */
export interface ControlledResource {
  /** In the naming the server speaks. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** In neutral names, equal for all versions. */
  readonly storageName: string;
  readonly verbs: readonly string[];
}

/** Configuration of the controllers that work on every resource. */
export interface ResourcesConfig {
  readonly resources: readonly ControlledResource[];
}

/** Storage name of the definitions that add resources at run time. */
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

/** Checks `{ resources: [...] }`; the server fills it from its registry. */
export function parseResources(config: unknown): ResourcesConfig {
  const resources = (config as { resources?: unknown } | undefined)?.resources;
  if (!Array.isArray(resources)) throw new ConfigError('config.resources', 'must be a list of resources');
  const bad = resources.findIndex(resource => !isResource(resource));
  if (bad >= 0)
    throw new ConfigError(`config.resources[${bad}]`, 'needs apiVersion, kind, plural, namespaced, storageName, verbs');
  return { resources };
}

/** The parts of a custom resource definition that say what it serves. */
interface Definition {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** Only then its objects can be addressed. */
const isEstablished = (definition: ApiObject): boolean =>
  (definition.status as { conditions?: { type: string; status: string }[] | null } | undefined)?.conditions?.some(
    condition => condition.type === 'Established' && condition.status === 'True',
  ) ?? false;

/** Every resource that can be addressed now: the configured ones and those of the definitions seen. */
export class Catalog {
  readonly #byStorageName = new Map<string, ControlledResource>();
  readonly #byKind = new Map<string, ControlledResource>();

  constructor(resources: readonly ControlledResource[]) {
    for (const resource of resources) this.#add(resource);
  }

  /** The preferred version of what lives under a storage name. */
  byStorageName(storageName: string): ControlledResource | undefined {
    return this.#byStorageName.get(storageName);
  }

  /** What an owner reference points to; undefined for kinds that are not served. */
  byKind(apiVersion: string, kind: string): ControlledResource | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** Adds what a definition serves, in place of what it served before; the versions of its kind that were not known. */
  define(definition: ApiObject): ReadonlySet<string> {
    const added = new Set<string>();
    const spec = definition.spec as Definition;
    const storageName = `${spec.group}/${spec.names.plural}`;
    if (!isEstablished(definition)) return added;
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

/** Path of a collection, or with `name` of an object, in `namespace` ('' for cluster scope). */
export function pathOf(
  of: { readonly apiVersion: string; readonly plural: string },
  namespace: string,
  name?: string,
): string {
  const root = of.apiVersion.includes('/') ? `/apis/${of.apiVersion}` : `/api/${of.apiVersion}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${of.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
