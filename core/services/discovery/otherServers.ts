import { compareVersions } from '../../schema/registry/versionNames.js';
import type { Group, GroupVersion, Registry } from '../../schema/resource.js';
import { servedGroups, servedVersions } from './plain.js';

/** The priorities of a version and its group. Higher ones are first in discovery documents. */
export interface Priorities {
  readonly group: number;
  readonly version: number;
}

/** A version of a group that another server serves, as discovery documents show it. */
export interface OtherVersion extends Pick<GroupVersion, 'group' | 'version' | 'apiVersion' | 'served'> {
  readonly priorities: Priorities;
  /** Its resources, in the form of aggregated discovery. */
  readonly entries: readonly object[];
  /** Whether the other server has confirmed them. */
  readonly isCurrent: boolean;
}

/** The facts about other servers in discovery documents. */
export interface Others {
  readonly versions: readonly OtherVersion[];
  /** The priorities of versions of this server, by `VERSION.GROUP`. */
  readonly priorities: ReadonlyMap<string, Priorities>;
}

/** For a server that passes no requests on. */
export const NO_OTHERS: Others = { versions: [], priorities: new Map() };

/** A group as discovery documents show it. */
export interface ShownGroup extends Pick<Group, 'name' | 'preferred'> {
  readonly versions: readonly (GroupVersion | OtherVersion)[];
}

/** Whether another server serves a version. */
export const isOther = (version: GroupVersion | OtherVersion): version is OtherVersion => 'isCurrent' in version;

/** The priorities of versions without an APIService, which are those of custom kinds. */
const CUSTOM: Priorities = { group: 1000, version: 100 };

/** The groups except the core group, with the versions of other servers, by priority and name. */
export function shownGroups(registry: Registry, { versions, priorities }: Others): readonly ShownGroup[] {
  if (versions.length === 0) return servedGroups(registry);
  const groups = new Map<string, { readonly group: ShownGroup; readonly priority: number }>(
    servedGroups(registry).map(group => [group.name, { group, priority: group.priority }]),
  );
  for (const name of new Set(versions.map(({ group }) => group))) {
    const others = versions.filter(({ group }) => group === name);
    const local = registry.groups.get(name);
    groups.set(name, merge(name, local ? servedVersions(local) : [], others, priorities));
  }
  return [...groups.values()]
    .sort((a, b) => b.priority - a.priority || (a.group.name < b.group.name ? -1 : 1))
    .map(({ group }) => group);
}

/** Merges the versions that other servers serve into a group. They may also replace versions of this server. */
function merge(
  name: string,
  local: readonly GroupVersion[],
  others: readonly OtherVersion[],
  priorities: Others['priorities'],
): { readonly group: ShownGroup; readonly priority: number } {
  const replaced = new Set(others.map(({ version }) => version));
  const kept = local.filter(({ version }) => !replaced.has(version));
  const all = [...kept, ...others].map(version => ({
    version,
    priorities: isOther(version) ? version.priorities : (priorities.get(`${version.version}.${name}`) ?? CUSTOM),
  }));
  all.sort(
    (a, b) => b.priorities.version - a.priorities.version || compareVersions(a.version.version, b.version.version),
  );
  const versions = all.map(({ version }) => version);
  return {
    group: { name, versions, preferred: versions[0]!.version },
    priority: Math.max(...all.map(one => one.priorities.group)),
  };
}
