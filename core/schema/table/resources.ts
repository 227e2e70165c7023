import { GROUPS } from './groups.js';
import { readOneOf, readWords, TableError } from './lines.js';

/** A subresource as the table has it; type ids are resolved by the registry. */
export interface SubresourceRow {
  readonly name: string;
  readonly typeId: string;
  readonly verbs: readonly string[];
  readonly apiVersion?: string;
  readonly otherVersions?: readonly string[];
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
  readonly gate?: string;
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
  /** The apiVersion of another group whose resource of that plural holds the objects. */
  readonly storedAs?: string;
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

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
const SCOPES = ['namespaced', 'cluster'] as const;
const STABILITIES = ['ga', 'beta', 'alpha'] as const;
const STATES = ['on', 'off'] as const;

const RESOURCE_MARKERS: ReadonlySet<string> = new Set();
const RESOURCE_SETTINGS = new Set([
  'short',
  'categories',
  'gate',
  'introduced',
  'deprecated',
  'removed',
  'replaced',
  'stored',
]);
const SUBRESOURCE_MARKERS = new Set(['connect']);
const SUBRESOURCE_SETTINGS = new Set(['as', 'also', 'options', 'gate', 'produces']);

const readVerbs = (text: string, where: string): readonly string[] =>
  text === 'all' ? ALL : text.split(',').map(verb => readOneOf(verb, ALL, 'verb', where));
const readList = (text: string | undefined): readonly string[] => (text ? text.split(',') : []);

/** The first words of a line, which are given without names. Throws TableError if one is missing. */
function readLeading<Names extends readonly string[]>(
  words: readonly string[],
  names: Names,
  where: string,
): { readonly [Index in keyof Names]: string } {
  const missing = names[words.length];
  if (missing !== undefined) throw new TableError(where, `missing ${missing}`);
  return words.slice(0, names.length) as never;
}

function readSubresource(words: readonly string[], resource: string): SubresourceRow {
  const where = `${resource}/${words[0]}`;
  const [name, typeId, verbs] = readLeading(words, ['name', 'type', 'verbs'] as const, where);
  const given = readWords(words.slice(3), SUBRESOURCE_MARKERS, SUBRESOURCE_SETTINGS, where);
  return {
    name,
    typeId,
    verbs: readVerbs(verbs, where),
    apiVersion: given.get('as'),
    otherVersions: readList(given.get('also')),
    options: given.get('options'),
    connect: given.has('connect'),
    gate: given.get('gate'),
    produces: given.get('produces'),
  };
}

function readResource(words: readonly string[], version: string): ResourceRow {
  const where = `${version} ${words[0]}`;
  const [plural, kind, scope, verbs] = readLeading(words, ['plural', 'kind', 'scope', 'verbs'] as const, where);
  const given = readWords(words.slice(4), RESOURCE_MARKERS, RESOURCE_SETTINGS, where);
  return {
    plural,
    kind,
    namespaced: readOneOf(scope, SCOPES, 'scope', where) === 'namespaced',
    verbs: readVerbs(verbs, where),
    shortNames: readList(given.get('short')),
    categories: readList(given.get('categories')),
    gate: given.get('gate'),
    introduced: given.get('introduced'),
    deprecated: given.get('deprecated'),
    removed: given.get('removed'),
    replacement: given.get('replaced'),
    storedAs: given.get('stored'),
    subresources: [],
  };
}

/** Throws TableError if a line has more words. */
function readNoMore(words: readonly string[], where: string): void {
  if (words.length > 0) throw new TableError(where, `unknown word ${JSON.stringify(words[0])}`);
}

function readVersion(words: readonly string[], group: string): VersionRow {
  const where = `${group}/${words[1]}`;
  const names = ['word version', 'name', 'stability', 'state', 'package'] as const;
  const [, version, stability, state, pkg] = readLeading(words, names, where);
  readNoMore(words.slice(5), where);
  return {
    version,
    stability: readOneOf(stability, STABILITIES, 'stability', where),
    enabled: readOneOf(state, STATES, 'state', where) === 'on',
    package: pkg,
    otherKinds: [],
    resources: [],
  };
}

function readGroup(words: readonly string[]): GroupRow {
  const where = `group ${words[1]}`;
  const [, name, priority, preferred] = readLeading(
    words,
    ['word group', 'name', 'priority', 'preferred version'] as const,
    where,
  );
  readNoMore(words.slice(4), where);
  if (!/^\d+$/.test(priority)) throw new TableError(where, `the priority ${JSON.stringify(priority)} is not a number`);
  return { name: name === '-' ? '' : name, priority: Number(priority), preferred, versions: [] };
}

/** The earlier line to which a line of this depth belongs. Throws TableError if there is none. */
function parentOf<T>(parent: T | undefined, line: string): T {
  if (!parent) throw new TableError(line.trim(), 'no line above it is indented one step less');
  return parent;
}

/**
 * Reads the text of `groups.ts`; README.md explains its form. Throws TableError that names the line's subject and word.
 */
export function readGroups(text: string): readonly GroupRow[] {
  const groups: GroupRow[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const depth = line.length - line.trimStart().length;
    const words = line.slice(depth).split(' ');
    if (depth === 0) {
      groups.push(readGroup(readKeyword(words, 'group')));
      continue;
    }
    const group = parentOf(groups.at(-1), line);
    if (depth === 1) {
      group.versions.push(readVersion(readKeyword(words, 'version'), group.name || 'core'));
      continue;
    }
    const version = parentOf(group.versions.at(-1), line);
    const where = `${group.name || 'core'}/${version.version}`;
    if (depth === 3) {
      const resource = parentOf(version.resources.at(-1), line);
      resource.subresources.push(readSubresource(words, `${where} ${resource.plural}`));
    } else if (depth > 3) throw new TableError(line.trim(), 'it is indented too far');
    else if (words[0] === 'others') version.otherKinds = words.slice(1);
    else version.resources.push(readResource(words, where));
  }
  return groups;
}

/** The words of a line that must begin with `keyword`. */
function readKeyword(words: readonly string[], keyword: string): readonly string[] {
  if (words[0] !== keyword)
    throw new TableError(
      words.join(' '),
      `unknown word ${JSON.stringify(words[0])}; the line must begin with ${keyword}`,
    );
  return words;
}

let cached: readonly GroupRow[] | undefined;

/** All groups of the table, read once. */
export function groupRows(): readonly GroupRow[] {
  cached ??= readGroups(GROUPS);
  return cached;
}
