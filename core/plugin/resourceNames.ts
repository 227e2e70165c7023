import { dns1123Label, dns1123Subdomain } from '../model/names.js';
import { nearest } from '../model/nearest.js';
import { customStorageName } from '../model/wellKnown/storageNames.js';
import { groupSpellings } from '../naming.js';
import { type GroupRow, groupRows, type ResourceRow } from '../schema/table/resources.js';
import { storagePlace } from '../schema/table/storageNames.js';

/** The ways to name a resource of a group, the shortest first; the group has several spellings. */
const namesOf = (group: string, plural: string): string[] =>
  group === '' ? [plural, `core/${plural}`] : groupSpellings(group).map(spelling => `${spelling}/${plural}`);

const isStored = ({ verbs }: ResourceRow): boolean => verbs.includes('create') && verbs.includes('get');

/** The stored resources of a group: kinds by their plural names. */
const storedIn = ({ versions }: GroupRow): ReadonlyMap<string, string> =>
  new Map(versions.flatMap(({ resources }) => resources.filter(isStored).map(({ plural, kind }) => [plural, kind])));

let cached: ReadonlyMap<string, string> | undefined;

/** The storage names of all stored built-in resources, by every name that is accepted for them. */
function builtIn(): ReadonlyMap<string, string> {
  cached ??= new Map(
    groupRows().flatMap(group =>
      [...storedIn(group).keys()].flatMap(plural => {
        const { storageName } = storagePlace(group, plural);
        return [...namesOf(group.name, plural), storageName].map(name => [name, storageName] as const);
      }),
    ),
  );
  return cached;
}

/** The name of the built-in resource that an unknown name probably means. */
function suggestionFor(given: string): string | undefined {
  const lower = given.toLowerCase();
  const last = lower.slice(lower.lastIndexOf('/') + 1);
  const first = lower.slice(0, Math.max(0, lower.indexOf('/')));
  const meant = groupRows().flatMap(group =>
    Array.from(storedIn(group), ([plural, kind]) => ({ group: group.name, plural, singular: kind.toLowerCase() })),
  );
  const same = meant.filter(({ plural, singular }) => plural === last || singular === last);
  const best = same.find(({ group }) => groupSpellings(group).includes(first)) ?? same[0];
  return best ? namesOf(best.group, best.plural)[0] : nearest(lower, builtIn().keys());
}

/**
 * The group and plural name of a kind that a definition, a plugin or the program may have. The groups of built-in kinds
 * have no others.
 */
function customName(given: string): { readonly group: string; readonly plural: string } | undefined {
  const [group = '', plural = '', ...rest] = given.replace(/^custom:/, '').split('/');
  if (rest.length > 0 || !group.includes('.') || dns1123Subdomain(group).length > 0 || dns1123Label(plural).length > 0)
    return undefined;
  const spellings = groupSpellings(group);
  const isTaken = !given.startsWith('custom:') && groupRows().some(({ name }) => spellings.includes(name));
  return isTaken ? undefined : { group, plural };
}

/**
 * The storage name of a resource, as a plugin names it: by its storage name, by group and plural name in either naming
 * (`apps/deployments`), by the plural name alone if its group is that of pods (`namespaces`), or by the definition.
 * Throws TypeError for a name that no stored resource can have: its informer would stay empty.
 */
export function storageNameOf(given: string | { readonly group: string; readonly plural: string }): string {
  const name: unknown = typeof given === 'object' ? `${given?.group ? `${given.group}/` : ''}${given?.plural}` : given;
  if (typeof name !== 'string')
    throw new TypeError('a resource must be a name, as in example.com/widgets, or a result of defineResource');
  const known = builtIn().get(name);
  if (known !== undefined) return known;
  const custom = customName(name);
  if (custom) return customStorageName(custom);
  const best = suggestionFor(name);
  const advice =
    best === undefined ? 'write its group and plural name, as in example.com/widgets' : `did you mean ${best}?`;
  throw new TypeError(`no stored resource can have the name ${JSON.stringify(name)}; ${advice}`);
}

/** The resources that plugins of the configuration follow, for warnings about those that nothing serves yet. */
export class FollowedResources {
  readonly #followed = new Map<string, { readonly plugin: string; readonly storageName: string }>();

  /** Records that a plugin follows a resource. */
  add(plugin: string, storageName: string): void {
    this.#followed.set(`${plugin}\0${storageName}`, { plugin, storageName });
  }

  /** A warning for each resource that is not among those that are served. */
  warnings(isServed: (storageName: string) => boolean): string[] {
    const unserved = [...this.#followed.values()].filter(({ storageName }) => !isServed(storageName));
    return unserved.map(
      ({ plugin, storageName }) =>
        `plugin ${plugin}: it reads ${storageName}, which is not served: there are none of these objects, until a ` +
        'definition or --runtime-config changes that',
    );
  }
}
