import type { Strategy } from '../../api/strategy.js';
import type { Naming } from '../../naming.js';
import { AS_RELEASED, type Enablement, isInRelease, minorOf } from './enablement.js';
import type { Struct } from '../model.js';
import type { Group, GroupVersion, Registry, Resource, Subresource } from '../resource.js';
import { completeStrategy } from './strategyDefaults.js';
import {
  type GroupRow,
  groupRows,
  type ResourceRow,
  type SubresourceRow,
  type VersionRow,
} from '../table/resources.js';
import { storagePlace } from '../table/storageNames.js';
import { findType, typeOf } from '../table/types.js';
import { deprecationText } from './deprecation.js';
import { compareVersions, stabilityOf } from './versionNames.js';

/** Finds the strategy of a kind by its storage name; undefined for kinds without a strategy. */
export type StrategySource = (storageName: string) => Partial<Strategy> | undefined;

/** Inputs of a registry. `extra` are the served custom resources. */
export interface RegistryInput {
  readonly naming: Naming;
  readonly strategies: StrategySource;
  readonly extra?: readonly Resource[];
  readonly generation: number;
  /** The versions that are switched on or off, other than in the release. */
  readonly enablement?: Enablement;
}

/** The priority of groups of custom kinds, equal to upstream's. */
const CUSTOM_GROUP_PRIORITY = 1000;

const joinApiVersion = (group: string, version: string): string => (group ? `${group}/${version}` : version);

function toSubresource(row: SubresourceRow, group: string, version: string, naming: Naming): Subresource {
  const [bodyGroup, bodyVersion] = row.apiVersion
    ? row.apiVersion.includes('/')
      ? (row.apiVersion.split('/') as [string, string])
      : ['', row.apiVersion]
    : [group, version];
  return {
    name: row.name,
    kind: row.typeId.slice(row.typeId.lastIndexOf('.') + 1),
    group: naming.group(bodyGroup),
    version: bodyVersion,
    verbs: row.verbs,
    get type() {
      return row.connect ? undefined : findType(row.typeId);
    },
    get options() {
      return row.options ? findType(row.options) : undefined;
    },
    connect: row.connect,
    produces: row.produces,
    otherVersions: row.otherVersions,
  };
}

const deprecationOf = (row: ResourceRow, naming: Naming): Resource['deprecation'] => {
  if (!row.deprecated) return undefined;
  const [apiVersion, kind] = row.replacement?.split(',') ?? [];
  return {
    introduced: row.introduced,
    deprecated: row.deprecated,
    removed: row.removed,
    replacement: apiVersion ? `${naming.apiVersion(apiVersion)} ${kind}` : undefined,
  };
};

/** The warning of a version that is deprecated in the emulated release or an earlier one. */
function warningOf(
  apiVersion: string,
  kind: string,
  deprecation: Resource['deprecation'],
  minor: number,
): string | undefined {
  if (!deprecation?.deprecated || minorOf(deprecation.deprecated) > minor) return undefined;
  return deprecationText(apiVersion, kind, deprecation);
}

function toResource(group: GroupRow, version: VersionRow, row: ResourceRow, input: RegistryInput): Resource {
  const { naming, enablement = AS_RELEASED } = input;
  const storage = storagePlace(group, row.plural);
  const ungated = row.subresources.filter(sub => !sub.gate);
  const typeId = `${version.package}.${row.kind}`;
  const apiVersion = naming.apiVersion(joinApiVersion(group.name, version.version));
  const deprecation = deprecationOf(row, naming);
  return {
    group: naming.group(group.name),
    version: version.version,
    apiVersion,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced: row.namespaced,
    shortNames: row.shortNames,
    categories: row.categories,
    verbs: row.verbs,
    subresources: new Map(ungated.map(sub => [sub.name, toSubresource(sub, group.name, version.version, naming)])),
    get type(): Struct {
      return typeOf(typeId);
    },
    get listType() {
      return findType(`${typeId}List`);
    },
    gate: row.gate,
    stored: row.verbs.includes('create') && row.verbs.includes('get'),
    builtIn: true,
    storageName: storage.storageName,
    storageApiVersion: naming.apiVersion(storage.apiVersion),
    strategy: completeStrategy({
      hasStatus: ungated.some(sub => sub.name === 'status'),
      ...input.strategies(storage.storageName),
    }),
    warning: warningOf(apiVersion, row.kind, deprecation, enablement.minor),
    deprecation,
  };
}

/** Whether the version is served, and its resources that are: one may be enabled or disabled by itself. */
function servedOf(neutral: string, version: VersionRow, { versions, resources, minor }: Enablement) {
  const served = versions[neutral] ?? version.enabled;
  const isServed = (row: ResourceRow): boolean =>
    (resources[`${neutral}/${row.plural}`] ?? served) && isInRelease(row, minor);
  const rows = version.resources.filter(isServed);
  // All resources of a version that is not served stay known, because objects may be stored in it.
  return rows.length > 0 ? { served: true, rows } : { served: false, rows: version.resources };
}

function toGroup(row: GroupRow, input: RegistryInput): Group {
  const { naming, enablement = AS_RELEASED } = input;
  const versions = row.versions.map(version => {
    const neutral = joinApiVersion(row.name, version.version);
    const { served, rows } = servedOf(neutral, version, enablement);
    return {
      group: naming.group(row.name),
      version: version.version,
      apiVersion: naming.apiVersion(neutral),
      stability: version.stability,
      served,
      resources: new Map(rows.map(r => [r.plural, toResource(row, version, r, input)])),
      package: version.package,
      otherKinds: version.otherKinds,
    };
  });
  return {
    name: naming.group(row.name),
    neutralName: row.name,
    priority: row.priority,
    preferred: row.preferred,
    versions,
  };
}

const sameResources = (a: GroupVersion, b: GroupVersion): boolean =>
  a.resources.size === b.resources.size &&
  [...b.resources].every(([plural, resource]) => a.resources.get(plural) === resource);

/** Whether a type requests that the version be the preferred one of its group. */
const isPreferred = ({ resources }: GroupVersion): boolean => [...resources.values()].some(one => one.preferred);

/** Resources by a property of them, in their order. */
function groupBy(resources: readonly Resource[], property: 'group' | 'apiVersion'): Map<string, Resource[]> {
  const found = new Map<string, Resource[]>();
  for (const one of resources) {
    const known = found.get(one[property]);
    if (known) known.push(one);
    else found.set(one[property], [one]);
  }
  return found;
}

/** The names that groups of a registry have besides those by which they are served. */
const neutralNamesOf = ({ groups }: Pick<Registry, 'groups'>): ReadonlySet<string> =>
  new Set(Array.from(groups.values(), ({ neutralName }) => neutralName).filter(name => name !== undefined));

/** A group with custom resources added to those of `base`. Versions that did not change are those of `previous`. */
function extendGroup(
  name: string,
  base: Group | undefined,
  extra: readonly Resource[],
  previous: Group | undefined,
  neutralNames: ReadonlySet<string>,
): Group {
  let versions: readonly GroupVersion[] = base?.versions ?? [];
  for (const [apiVersion, added] of groupBy(extra, 'apiVersion')) {
    const { version } = added[0]!;
    const resources = new Map(added.map(one => [one.plural, one]));
    const same = versions.find(v => v.version === version);
    const merged: GroupVersion = same
      ? { ...same, served: true, resources: new Map([...resources, ...same.resources]) }
      : { group: name, version, apiVersion, stability: stabilityOf(version), served: true, resources };
    const before = previous?.versions.find(v => v.version === version);
    const reused = before && sameResources(before, merged) ? before : merged;
    versions = [...versions.filter(v => v !== same), reused];
  }
  versions = versions.toSorted(
    (a, b) => Number(isPreferred(b)) - Number(isPreferred(a)) || compareVersions(a.version, b.version),
  );
  return {
    name,
    ...neutralNameOf(name, base, neutralNames),
    priority: base?.priority ?? CUSTOM_GROUP_PRIORITY,
    preferred: versions.find(v => v.served)!.version,
    versions,
  };
}

/** The stored resources of served kinds, each in its storage version, which need not be served itself. */
function storedResources(groups: ReadonlyMap<string, Group>): readonly Resource[] {
  const served = new Map<string, Resource>();
  const inStorageVersion = new Map<string, Resource>();
  for (const group of groups.values())
    for (const version of group.versions)
      for (const one of version.resources.values()) {
        if (!one.stored) continue;
        if (version.served && !served.has(one.storageName)) served.set(one.storageName, one);
        if (one.apiVersion === one.storageApiVersion) inStorageVersion.set(one.storageName, one);
      }
  return [...served].map(([name, one]) => inStorageVersion.get(name) ?? one);
}

/** Builds a registry of the built-in kinds in a naming, and `extra`. */
export function buildRegistry(input: RegistryInput): Registry {
  const groups = new Map<string, Group>();
  for (const row of groupRows()) groups.set(input.naming.group(row.name), toGroup(row, input));
  const builtIn = makeRegistry(groups, input.generation);
  return input.extra ? extendRegistry(builtIn, input.extra, input.generation) : builtIn;
}

/** Adds resources to a registry. Unchanged group versions are shared with `base` and `previous`. */
export const extendRegistry = (
  base: Registry,
  extra: readonly Resource[],
  generation: number,
  previous?: Registry,
): Registry => changeGroups(base, { groups: groupBy(extra, 'group'), generation }, base, previous);

/** The custom resources of groups, and the generation of the registry that has them. */
export interface ChangedGroups {
  readonly groups: ReadonlyMap<string, readonly Resource[]>;
  readonly generation: number;
}

/**
 * A registry whose changed groups have the resources of `base` and the given custom ones, and whose other groups are
 * those of `from`, so that the cost hardly depends on their number. Unchanged group versions are shared with
 * `previous`.
 */
export function changeGroups(base: Registry, changed: ChangedGroups, from: Registry, previous = from): Registry {
  const groups = new Map(from.groups);
  const neutralNames = neutralNamesOf(base);
  for (const [name, extra] of changed.groups) {
    const fixed = base.groups.get(name);
    if (extra.length > 0) groups.set(name, extendGroup(name, fixed, extra, previous.groups.get(name), neutralNames));
    else if (fixed) groups.set(name, fixed);
    else groups.delete(name);
  }
  return makeRegistry(groups, changed.generation);
}

/** The resources of group versions by kind. Registries share group versions that did not change. */
const kindsOfVersions = new WeakMap<GroupVersion, ReadonlyMap<string, Resource>>();

function kindsOf(version: GroupVersion): ReadonlyMap<string, Resource> {
  const known = kindsOfVersions.get(version);
  if (known) return known;
  const kinds = new Map(Array.from(version.resources.values(), one => [one.kind, one]));
  kindsOfVersions.set(version, kinds);
  return kinds;
}

/** Nothing here is done per resource, because a registry is built for each changed definition, in every thread. */
function makeRegistry(groups: ReadonlyMap<string, Group>, generation: number): Registry {
  const servedVersion = (group: string, version: string): GroupVersion | undefined =>
    groups.get(group)?.versions.find(one => one.version === version && one.served);
  let stored: readonly Resource[] | undefined;
  return Object.freeze({
    generation,
    groups,
    find: (group: string, version: string, plural: string) => servedVersion(group, version)?.resources.get(plural),
    byKind: (apiVersion: string, kind: string) => {
      const slash = apiVersion.lastIndexOf('/');
      const version = servedVersion(apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1));
      return version && kindsOf(version).get(kind);
    },
    get stored() {
      return (stored ??= storedResources(groups));
    },
  });
}

/**
 * The name by which authorizers and plugins know a group. In stores of earlier releases, a group of definitions may
 * have the neutral name of a built-in group that is served under another name; it must not be confused with that group.
 */
function neutralNameOf(
  name: string,
  base: Group | undefined,
  neutralNames: ReadonlySet<string>,
): { readonly neutralName?: string } {
  if (base) return base.neutralName === undefined ? {} : { neutralName: base.neutralName };
  return neutralNames.has(name) ? { neutralName: `custom:${name}` } : {};
}
