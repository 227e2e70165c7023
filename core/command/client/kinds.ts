import { pathOf } from '../../api/client/paths.js';
import { nearest } from '../../model/nearest.js';
import { recordAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../model/record.js';
import { namingOf, type NamingName } from '../../naming.js';
import type { ApiClient } from './request.js';

const NAMES: readonly NamingName[] = ['neutral', 'kubernetes'];

/** A media type in both namings: the server answers in its own. */
const inBothNamings = (mediaTypeOf: (group: string) => string, group: string): string =>
  NAMES.map(name => mediaTypeOf(namingOf(name).group(group))).join(', ');

/** Requests tables, the form of objects for people. */
export const TABLE = inBothNamings(group => `application/json;as=Table;v=v1;g=${group}`, 'meta.orchestrator.io');
/** Requests all kinds of a server in one answer. */
const DISCOVERY = inBothNamings(
  group => `application/json;as=APIGroupDiscoveryList;v=v2;g=${group}`,
  'apidiscovery.orchestrator.io',
);

/** A kind that a server has, in the version that it prefers or that an object names. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** The name of a resource for people, as it can be given to commands: `configmaps`, `deployments.apps`. */
export const resourceName = ({ plural, group }: ServedKind): string => (group ? `${plural}.${group}` : plural);

/** The path of the objects of a kind, or of one object. Throws TypeError for a name that no object can have. */
export const pathIn = (kind: ServedKind, namespace: string, name?: string): string =>
  pathOf(kind, kind.namespaced ? namespace : '', name);

function kindsOf(discovered: UnknownRecord): readonly ServedKind[] {
  return recordsAt(discovered, 'items').flatMap(item => {
    const group = stringAt(item, 'metadata', 'name');
    return recordsAt(item, 'versions').flatMap(found => {
      const version = stringAt(found, 'version');
      return recordsAt(found, 'resources').map(resource => ({
        group,
        version,
        apiVersion: group ? `${group}/${version}` : version,
        kind: stringAt(recordAt(resource, 'responseKind'), 'kind'),
        plural: stringAt(resource, 'resource'),
        singular: stringAt(resource, 'singularResource'),
        shortNames: stringsAt(resource, 'shortNames'),
        namespaced: stringAt(resource, 'scope') === 'Namespaced',
        verbs: stringsAt(resource, 'verbs'),
      }));
    });
  });
}

/** The kinds of a server, as its discovery lists them: preferred versions first. */
export class ServedKinds {
  private constructor(readonly all: readonly ServedKind[]) {}

  /** Asks the server for its kinds. */
  static async of(client: ApiClient): Promise<ServedKinds> {
    const answers = await Promise.all(
      ['/api', '/apis'].map(path => client.ask({ method: 'GET', path, headers: { accept: DISCOVERY } })),
    );
    return new ServedKinds(answers.flatMap(({ body }) => kindsOf(body)));
  }

  /** The naming of the server. */
  get naming(): NamingName {
    const rbac = 'rbac.authorization.orchestrator.io';
    return this.all.some(({ group }) => group === rbac) ? 'neutral' : 'kubernetes';
  }

  /** Each kind once, in its preferred version. */
  get preferred(): readonly ServedKind[] {
    return [...new Map([...this.all].reverse().map(kind => [resourceName(kind), kind])).values()].reverse();
  }

  /**
   * The kind that a word names: a plural, singular or short name, or a kind, optionally with the group or the beginning
   * of the group (`deploy`, `pods`, `orders.tea.example.com`). Throws Error with the nearest name.
   */
  named(word: string): ServedKind {
    const [name = '', ...groups] = word.toLowerCase().split('.');
    const group = groups.join('.');
    const isMeant = (kind: ServedKind): boolean =>
      [kind.plural, kind.singular, kind.kind.toLowerCase(), ...kind.shortNames].includes(name) &&
      (group === '' || kind.group === group || kind.group.startsWith(`${group}.`));
    const found = this.all.find(isMeant);
    if (found) return found;
    const best = nearest(word, new Set(this.all.flatMap(kind => [kind.plural, resourceName(kind)])));
    const fix = best === undefined ? 'capstan get lists the kinds of the server' : `did you mean ${best}?`;
    throw new Error(`the server has no kind ${word}; ${fix}`);
  }

  /** The kind of an object; undefined if the server does not have it. */
  of(apiVersion: string, kind: string): ServedKind | undefined {
    return this.all.find(one => one.apiVersion === apiVersion && one.kind === kind);
  }
}
