import type { Strategy } from '../api/strategy.js';
import type { Naming } from '../naming.js';
import { RELEASE } from '../release.js';
import type { Struct } from './model.js';
import type { Group, GroupVersion, Registry, Resource, Subresource } from './resource.js';
import { completeStrategy } from './strategy-defaults.js';
import { type GroupRow, groupRows, type ResourceRow, type SubresourceRow, type VersionRow } from './table/resources.js';
import { findType, typeOf } from './table/types.js';

/** Gives the rules of a kind by its storage name; undefined for kinds without rules of their own. */
export type StrategySource = (storageName: string) => Partial<Strategy> | undefined;

/** What a registry is built from. `extra` are custom resources, complete; only those to be served. */
export interface RegistryInput {
  readonly naming: Naming;
  readonly strategies: StrategySource;
  readonly extra?: readonly Resource[];
  readonly generation: number;
  /** Turns versions on or off, by neutral apiVersion; undefined keeps the release's choice. */
  readonly enabled?: (apiVersion: string) => boolean | undefined;
}

/** Kinds whose objects live under another group's name. */
const STORED_ELSEWHERE = new Map([['events.orchestrator.io/events', { storageName: 'core/events', apiVersion: 'v1' }]]);
/** Upstream's priority of groups that definitions bring. */
const EXTRA_PRIORITY = 1000;

const joined = (group: string, version: string): string => (group ? `${group}/${version}` : version);

function subresource(row: SubresourceRow, group: string, version: string, naming: Naming): Subresource {
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

/** What answers warn of where the release that is served, or an earlier one, deprecates the version. */
function warningOf(apiVersion: string, kind: string, deprecation: Resource['deprecation']): string | undefined {
  const { deprecated, removed, replacement } = deprecation ?? {};
  if (!deprecated || minorOf(deprecated) > Number(RELEASE.minor)) return undefined;
  const until = removed ? `, unavailable in v${removed}+` : '';
  return `${apiVersion} ${kind} is deprecated in v${deprecated}+${until}${replacement ? `; use ${replacement}` : ''}`;
}

const minorOf = (release: string): number => Number(release.split('.')[1]);

/** Where objects of the resource live, and in which version (neutral): the most preferred one that has it. */
function storageOf(group: GroupRow, plural: string): { storageName: string; apiVersion: string } {
  const name = `${group.name || 'core'}/${plural}`;
  const first = group.versions.find(version => version.resources.some(row => row.plural === plural));
  return STORED_ELSEWHERE.get(name) ?? { storageName: name, apiVersion: joined(group.name, first!.version) };
}

function resource(group: GroupRow, version: VersionRow, row: ResourceRow, input: RegistryInput): Resource {
  const { naming } = input;
  const storage = storageOf(group, row.plural);
  const open = row.subresources.filter(sub => !sub.gate);
  const typeId = `${version.package}.${row.kind}`;
  const apiVersion = naming.apiVersion(joined(group.name, version.version));
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
    subresources: new Map(open.map(sub => [sub.name, subresource(sub, group.name, version.version, naming)])),
    get type(): Struct {
      return typeOf(typeId);
    },
    get listType() {
      return row.hasList ? findType(`${typeId}List`) : undefined;
    },
    gate: row.gate,
    stored: row.verbs.includes('create') && row.verbs.includes('get'),
    builtIn: true,
    storageName: storage.storageName,
    storageApiVersion: naming.apiVersion(storage.apiVersion),
    strategy: completeStrategy({
      hasStatus: open.some(sub => sub.name === 'status'),
      ...input.strategies(storage.storageName),
    }),
    warning: warningOf(apiVersion, row.kind, deprecation),
    deprecation,
  };
}

function builtInGroup(row: GroupRow, input: RegistryInput): Group {
  const { naming } = input;
  const versions = row.versions.map(version => {
    const neutral = joined(row.name, version.version);
    return {
      group: naming.group(row.name),
      version: version.version,
      apiVersion: naming.apiVersion(neutral),
      stability: version.stability,
      served: input.enabled?.(neutral) ?? version.enabled,
      resources: new Map(version.resources.map(r => [r.plural, resource(row, version, r, input)])),
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

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Upstream's order of versions: general before beta before alpha, higher numbers first, anything else last by name. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [VERSION.exec(a), VERSION.exec(b)];
  if (!x || !y) return x ? -1 : y ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (m: RegExpExecArray): number => (m[2] === undefined ? 2 : m[2] === 'beta' ? 1 : 0);
  return rank(y) - rank(x) || Number(y[1]) - Number(x[1]) || Number(y[3] ?? 0) - Number(x[3] ?? 0);
}

const stabilityOf = (version: string): GroupVersion['stability'] => {
  const word = VERSION.exec(version)?.[2];
  return word === 'alpha' || word === 'beta' ? word : 'ga';
};

const sameResources = (a: GroupVersion, b: GroupVersion): boolean =>
  a.resources.size === b.resources.size &&
  [...b.resources].every(([plural, resource]) => a.resources.get(plural) === resource);

/** Adds custom resources: their versions join a known group's or make a group of their own. */
function addExtra(groups: Map<string, Group>, extra: readonly Resource[], previous?: Registry): void {
  const byVersion = new Map<string, Map<string, Resource>>();
  for (const one of extra) {
    const resources = byVersion.get(one.apiVersion) ?? new Map<string, Resource>();
    byVersion.set(one.apiVersion, resources.set(one.plural, one));
  }
  for (const [apiVersion, resources] of byVersion) {
    const { group, version } = resources.values().next().value as Resource;
    const known = groups.get(group);
    const same = known?.versions.find(v => v.version === version);
    const merged: GroupVersion = same
      ? { ...same, served: true, resources: new Map([...resources, ...same.resources]) }
      : { group, version, apiVersion, stability: stabilityOf(version), served: true, resources };
    const before = previous?.groups.get(group)?.versions.find(v => v.version === version);
    const kept = before && sameResources(before, merged) ? before : merged;
    const versions = [...(known?.versions ?? []).filter(v => v !== same), kept];
    versions.sort((a, b) => compareVersions(a.version, b.version));
    const preferred = versions.find(v => v.served)!.version;
    groups.set(group, {
      name: group,
      ...(known?.neutralName === undefined ? {} : { neutralName: known.neutralName }),
      priority: known?.priority ?? EXTRA_PRIORITY,
      preferred,
      versions,
    });
  }
}

/** Every stored resource of a served kind once, in its storage version, which itself need not be served. */
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

/** Builds the frozen set of everything served: the table's kinds under the given naming, and `extra`. */
export function buildRegistry(input: RegistryInput): Registry {
  const groups = new Map<string, Group>();
  for (const row of groupRows()) groups.set(input.naming.group(row.name), builtInGroup(row, input));
  addExtra(groups, input.extra ?? []);
  return registryOf(groups, input.generation);
}

/**
 * The registry with further resources; what `base` has is shared, not built again, and what is as in `previous` is the
 * same object.
 */
export function extendRegistry(
  base: Registry,
  extra: readonly Resource[],
  generation: number,
  previous?: Registry,
): Registry {
  const groups = new Map(base.groups);
  addExtra(groups, extra, previous);
  return registryOf(groups, generation);
}

function registryOf(groups: ReadonlyMap<string, Group>, generation: number): Registry {
  const byPath = new Map<string, Resource>();
  const byKind = new Map<string, Resource>();
  for (const group of groups.values())
    for (const version of group.versions) {
      if (!version.served) continue;
      for (const one of version.resources.values()) {
        byPath.set(`${version.apiVersion} ${one.plural}`, one);
        byKind.set(`${version.apiVersion} ${one.kind}`, one);
      }
    }
  return Object.freeze({
    generation,
    groups,
    find: (group: string, version: string, plural: string) => byPath.get(`${joined(group, version)} ${plural}`),
    byKind: (apiVersion: string, kind: string) => byKind.get(`${apiVersion} ${kind}`),
    stored: storedResources(groups),
  });
}
