/* Discovery documents of other servers. Members that discovery does not have, or of a wrong type, are left out. */

/** Members of an entry that are texts, and lists of texts. */
const TEXTS = ['resource', 'subresource', 'scope', 'singularResource'] as const;
const LISTS = ['verbs', 'shortNames', 'categories'] as const;

type Members = { [name: string]: unknown };

/** An entry of aggregated discovery, for a resource or a subresource. */
export type Entry = Readonly<Members>;

const objectsIn = (value: unknown): Members[] =>
  Array.isArray(value)
    ? value.filter((one): one is Members => typeof one === 'object' && one !== null && !Array.isArray(one))
    : [];

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function kindOf(value: unknown): Members | undefined {
  const [kind] = objectsIn([value]);
  return kind && { group: textOf(kind['group']), version: textOf(kind['version']), kind: textOf(kind['kind']) };
}

function entryOf(given: Members): Members {
  const entry: Members = {};
  for (const name of TEXTS) if (typeof given[name] === 'string') entry[name] = given[name];
  const responseKind = kindOf(given['responseKind']);
  if (responseKind) entry['responseKind'] = responseKind;
  for (const name of LISTS) if (Array.isArray(given[name])) entry[name] = textsIn(given[name]);
  entry['verbs'] ??= [];
  const subresources = objectsIn(given['subresources']).map(entryOf);
  return subresources.length > 0 ? { ...entry, subresources } : entry;
}

/** The entries of an aggregated discovery document, by `VERSION.GROUP`. */
export function receivedEntries(document: Members): ReadonlyMap<string, readonly Entry[]> {
  const found = new Map<string, readonly Entry[]>();
  for (const { metadata, versions } of objectsIn(document['items'])) {
    const [named = {}] = objectsIn([metadata]);
    for (const { version, resources } of objectsIn(versions))
      found.set(`${textOf(version)}.${textOf(named['name'])}`, objectsIn(resources).map(entryOf));
  }
  return found;
}

/** The entries of the document of a version, an APIResourceList, in the form of aggregated discovery. */
export function receivedList(document: Members): readonly Entry[] {
  const entries = new Map<string, Members>();
  const entryOfResource = (name: string, given: Members): Members => {
    const known = entries.get(name);
    if (known) return known;
    const scope = given['namespaced'] === true ? 'Namespaced' : 'Cluster';
    const entry = { resource: name, responseKind: kindOf({}), scope, singularResource: '', verbs: [] };
    entries.set(name, entry);
    return entry;
  };
  for (const given of objectsIn(document['resources'])) {
    const [name = '', subresource] = textOf(given['name']).split('/', 2);
    const kind = textOf(given['kind']);
    const described = {
      ...(kind ? { responseKind: kindOf(given)! } : {}),
      ...Object.fromEntries(LISTS.filter(list => textsIn(given[list]).length > 0).map(list => [list, textsIn(given[list])])),
    };
    const entry = entryOfResource(name, given);
    if (subresource === undefined)
      Object.assign(entry, described, { singularResource: textOf(given['singularName']) });
    else
      entry['subresources'] = [
        ...objectsIn(entry['subresources']),
        { subresource, verbs: [], ...described },
      ];
  }
  return [...entries.values()];
}
