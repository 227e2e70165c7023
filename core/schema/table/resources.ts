import { GROUPS } from './groups.js';

/** A subresource as the table has it; type ids are resolved by the registry. */
export interface SubresourceRow {
  readonly name: string;
  readonly typeId: string;
  readonly verbs: readonly string[];
  readonly apiVersion?: string;
  readonly options?: string;
  readonly connect: boolean;
  readonly gate?: string;
  readonly produces?: string;
}

/** A resource as the table has it. */
export interface ResourceRow {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly hasList: boolean;
  readonly gate?: string;
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
  readonly subresources: SubresourceRow[];
}

/** A version of a group as the table has it. */
export interface VersionRow {
  readonly version: string;
  readonly stability: 'ga' | 'beta' | 'alpha';
  readonly enabled: boolean;
  readonly package: string;
  otherKinds: readonly string[];
  readonly resources: ResourceRow[];
}

/** A group as the table has it, names neutral, versions in order of preference. */
export interface GroupRow {
  readonly name: string;
  readonly priority: number;
  readonly preferred: string;
  readonly versions: VersionRow[];
}

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const verbsOf = (text: string): readonly string[] => (text === 'all' ? ALL : text.split(','));
const listOf = (text: string | undefined): readonly string[] => (text ? text.split(',') : []);

function wordsOf(parts: readonly string[]): Map<string, string> {
  return new Map(
    parts.map(part => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

function subresourceRow(parts: readonly string[]): SubresourceRow {
  const [name, typeId, verbs, ...rest] = parts as [string, string, string, ...string[]];
  const given = wordsOf(rest);
  return {
    name,
    typeId,
    verbs: verbsOf(verbs),
    apiVersion: given.get('as'),
    options: given.get('options'),
    connect: given.has('connect'),
    gate: given.get('gate'),
    produces: given.get('produces'),
  };
}

function resourceRow(parts: readonly string[]): ResourceRow {
  const [plural, kind, scope, verbs, ...rest] = parts as [string, string, string, string, ...string[]];
  const given = wordsOf(rest);
  return {
    plural,
    kind,
    namespaced: scope === 'namespaced',
    verbs: verbsOf(verbs),
    shortNames: listOf(given.get('short')),
    categories: listOf(given.get('categories')),
    hasList: given.has('list'),
    gate: given.get('gate'),
    introduced: given.get('introduced'),
    deprecated: given.get('deprecated'),
    removed: given.get('removed'),
    replacement: given.get('replaced'),
    subresources: [],
  };
}

let parsed: readonly GroupRow[] | undefined;

/** All groups of the table, parsed once. */
export function groupRows(): readonly GroupRow[] {
  if (parsed) return parsed;
  const groups: GroupRow[] = [];
  for (const line of GROUPS.split('\n')) {
    const depth = line.length - line.trimStart().length;
    const parts = line.slice(depth).split(' ');
    const versions = groups.at(-1)?.versions;
    const version = versions?.at(-1);
    if (depth === 3) version!.resources.at(-1)!.subresources.push(subresourceRow(parts));
    else if (depth === 2 && parts[0] === 'others') version!.otherKinds = parts.slice(1);
    else if (depth === 2) version!.resources.push(resourceRow(parts));
    else if (depth === 1)
      versions!.push({
        version: parts[1]!,
        stability: parts[2] as VersionRow['stability'],
        enabled: parts[3] === 'on',
        package: parts[4]!,
        otherKinds: [],
        resources: [],
      });
    else if (parts[0] === 'group')
      groups.push({
        name: parts[1] === '-' ? '' : parts[1]!,
        priority: Number(parts[2]),
        preferred: parts[3]!,
        versions: [],
      });
  }
  parsed = groups;
  return groups;
}
