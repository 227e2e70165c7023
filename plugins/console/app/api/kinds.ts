import { signal } from '@preact/signals';
import { sendJson } from './http.js';
import { systemGroup } from './session.js';

/** A kind of objects that the server serves, in its preferred version. */
export interface Kind {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

interface DiscoveryResource {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[] }[];
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources?: readonly DiscoveryResource[] }[];
  }[];
}

/** All kinds that can be listed, by group and then as the server names them; undefined until they are known. */
export const kinds = signal<readonly Kind[] | undefined>(undefined);

const accept = (): string =>
  `application/json;g=${systemGroup('apidiscovery')};v=v2;as=APIGroupDiscoveryList,application/json`;

function kindOf(group: string, version: string, found: DiscoveryResource): Kind {
  return {
    group,
    version,
    resource: found.resource,
    kind: found.responseKind.kind,
    singular: found.singularResource ?? found.resource,
    namespaced: found.scope === 'Namespaced',
    verbs: found.verbs,
    shortNames: found.shortNames ?? [],
    categories: found.categories ?? [],
    subresources: (found.subresources ?? []).map(({ subresource, verbs }) => ({ name: subresource, verbs })),
  };
}

/** The kinds of a discovery document: each in the first version that has it, which is the preferred one. */
function kindsIn({ items }: Discovery): Kind[] {
  return items.flatMap(({ metadata: { name = '' }, versions }) => {
    const seen = new Map<string, Kind>();
    for (const { version, resources = [] } of versions)
      for (const found of resources)
        if (!seen.has(found.resource)) seen.set(found.resource, kindOf(name, version, found));
    return [...seen.values()];
  });
}

/** Reads the kinds from the aggregated discovery documents. */
export async function readKinds(): Promise<void> {
  const headers = { accept: accept() };
  const [core, named] = await Promise.all([
    sendJson<Discovery>('GET', '/api', headers),
    sendJson<Discovery>('GET', '/apis', headers),
  ]);
  const found = [...kindsIn(core), ...kindsIn(named)];
  if (JSON.stringify(found) !== JSON.stringify(kinds.value)) kinds.value = found;
}

/** The kind with this group and plural name. `core` stands for the group without a name. */
export const findKind = (group: string, resource: string): Kind | undefined =>
  kinds.value?.find(kind => kind.group === (group === 'core' ? '' : group) && kind.resource === resource);

/** The path of a kind's objects: of all namespaces if `namespace` is '', of one object with `name`. */
export function pathOf(kind: Kind, namespace = '', name = '', subresource = ''): string {
  const version = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const parts = [
    ...(kind.namespaced && namespace !== '' ? ['namespaces', namespace] : []),
    kind.resource,
    ...(name === '' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
  ];
  return `${version}/${parts.map(encodeURIComponent).join('/')}`;
}
