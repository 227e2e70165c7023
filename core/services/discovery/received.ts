/** Discovery documents of other servers. Members that discovery does not define, or of a wrong type, are omitted. */

/** The members of an entry with lists of texts. */
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

/** An entry, for a resource or a subresource, with its members in the order of upstream's documents. */
function entryOf(given: Members): Members {
  const text = (name: string): Members => (typeof given[name] === 'string' ? { [name]: given[name] } : {});
  const responseKind = kindOf(given['responseKind']);
  const subresources = objectsIn(given['subresources']).map(entryOf);
  return {
    ...text('resource'),
    ...text('subresource'),
    ...(responseKind ? { responseKind } : {}),
    ...text('scope'),
    ...text('singularResource'),
    verbs: [],
    ...Object.fromEntries(LISTS.filter(name => Array.isArray(given[name])).map(name => [name, textsIn(given[name])])),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
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
  const found = new Map<string, { own: Members | undefined; first: Members; subresources: Members[] }>();
  for (const given of objectsIn(document['resources'])) {
    const [name = '', subresource] = textOf(given['name']).split('/', 2);
    const one = found.get(name) ?? { own: undefined, first: given, subresources: [] };
    found.set(name, one);
    if (subresource === undefined) one.own = given;
    else one.subresources.push({ ...given, resource: undefined, subresource, responseKind: given });
  }
  return Array.from(found, ([resource, { own, first, subresources }]) =>
    entryOf({
      ...own,
      resource,
      responseKind: own ?? {},
      scope: first['namespaced'] === true ? 'Namespaced' : 'Cluster',
      singularResource: textOf(own?.['singularName']),
      subresources,
    }),
  );
}
