import { writeJson } from '../../model/text/jsonText.js';
import type { PartV2 } from './write.js';

type Members = Readonly<Record<string, unknown>>;

/** The part of another server's OpenAPI 2 document that belongs to one version, with the names of that server. */
export interface OtherPart {
  readonly paths: Members;
  readonly parameters: Members;
  readonly definitions: Members;
}

/** The OpenAPI documents of other servers, by the paths of their versions: `apis/GROUP/VERSION`. */
export interface OtherDescriptions {
  /** The paths of their version 3 documents on this server, which passes the requests on. */
  readonly urls: ReadonlyMap<string, string>;
  /** Their parts of the document in version 2. */
  readonly parts: ReadonlyMap<string, OtherPart>;
}

/** For a server that passes no requests on. */
export const NO_DESCRIPTIONS: OtherDescriptions = { urls: new Map(), parts: new Map() };

/** A reference within an OpenAPI 2 document, as JSON. */
const REFERENCE = /"\$ref":"#\/(definitions|parameters)\/([^"\\]+)"/g;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const isBelow = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** The paths of the OpenAPI 2 document of another server below `root`, with everything that they refer to. */
export function partOf(document: Members, root: string): OtherPart {
  const paths = Object.fromEntries(
    Object.entries(membersOf(document['paths'])).filter(([path]) => isBelow(path, root)),
  );
  const all = { definitions: membersOf(document['definitions']), parameters: membersOf(document['parameters']) };
  const used = { definitions: new Map<string, unknown>(), parameters: new Map<string, unknown>() };
  const unread: unknown[] = [paths];
  while (unread.length > 0)
    for (const [, section, name = ''] of writeJson(unread.pop()).matchAll(REFERENCE)) {
      const [from, to] = [all[section as keyof typeof all], used[section as keyof typeof used]];
      if (to.has(name) || !Object.hasOwn(from, name)) continue;
      to.set(name, from[name]);
      unread.push(from[name]);
    }
  return {
    paths,
    parameters: Object.fromEntries(used.parameters),
    definitions: Object.fromEntries(used.definitions),
  };
}

/** Definitions and parameters that a document has, as JSON, by name. */
type Taken = Readonly<Record<'definitions' | 'parameters', Map<string, string>>>;

/** The canonical text of a value: equal values have equal texts, because members are sorted. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/**
 * The part to add to a document that has `taken`; its definitions are added to `taken`. A definition with the name of
 * another one is renamed: `NAME_v2`, `NAME_v3` and so on, as upstream does.
 */
function withoutConflicts(part: OtherPart, taken: Taken): PartV2 {
  const names = {
    definitions: newNames(part.definitions, taken.definitions),
    parameters: newNames(part.parameters, taken.parameters),
  };
  const write = (value: unknown): string =>
    writeJson(value).replace(REFERENCE, (reference, section: keyof typeof names, name: string) => {
      const renamed = names[section].get(name);
      return renamed === undefined ? reference : `"$ref":"#/${section}/${renamed}"`;
    });
  const texts = (members: Members, renamed?: ReadonlyMap<string, string>): Map<string, string> =>
    new Map(Object.entries(members).map(([name, value]) => [renamed?.get(name) ?? name, write(value)]));
  const made = {
    paths: texts(part.paths),
    parameters: texts(part.parameters, names.parameters),
    definitions: texts(part.definitions, names.definitions),
  };
  for (const section of ['definitions', 'parameters'] as const)
    for (const [name, text] of made[section]) if (!taken[section].has(name)) taken[section].set(name, text);
  return made;
}

/** The parts of other servers, renamed where needed for a document that has `parts`. */
export function withoutConflictsIn(parts: readonly PartV2[], others: Iterable<OtherPart>): PartV2[] {
  const union = (section: 'definitions' | 'parameters') => new Map(parts.flatMap(part => [...part[section]]));
  let taken: Taken | undefined;
  return Array.from(others, other => {
    taken ??= { definitions: union('definitions'), parameters: union('parameters') };
    return withoutConflicts(other, taken);
  });
}

/** New names for the members whose names are taken by different ones. */
function newNames(members: Members, taken: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  for (const [name, value] of Object.entries(members)) {
    const text = canonical(value);
    const isFree = (candidate: string): boolean => {
      if (candidate !== name && Object.hasOwn(members, candidate)) return false;
      const known = taken.get(candidate);
      return known === undefined || canonical(JSON.parse(known)) === text;
    };
    let candidate = name;
    for (let n = 2; !isFree(candidate); n++) candidate = `${name}_v${n}`;
    if (candidate !== name) renamed.set(name, candidate);
  }
  return renamed;
}
