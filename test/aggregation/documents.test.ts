import { describe, expect, test } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';
import { discoveryDocuments } from '../../core/services/discovery/index.js';
import type { Others, OtherVersion } from '../../core/services/discovery/otherServers.js';
import { receivedEntries, receivedList } from '../../core/services/discovery/received.js';
import { openApiDocuments } from '../../core/services/openapi/index.js';
import { partOf } from '../../core/services/openapi/otherServers.js';

/** The members of discovery documents. */
interface Shown {
  readonly groups: readonly { readonly name: string }[];
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion: { readonly version: string };
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly versions: readonly object[] }[];
}

interface OpenApi {
  readonly paths: object;
  readonly definitions: Readonly<Record<string, { readonly properties: Record<string, { readonly $ref: string }> }>>;
}

/** The document in version 2. */
const textOf = (documents: ReturnType<typeof openApiDocuments>): OpenApi =>
  JSON.parse(
    Buffer.from(documents.answer('/openapi/v2', undefined, undefined, undefined)!.bytes).toString(),
  ) as OpenApi;

const naming = namingOf('kubernetes');
const registry = buildRegistry({ naming, strategies: () => undefined, generation: 1 });

const other = (group: string, version: string, priorities: OtherVersion['priorities']): OtherVersion => ({
  group,
  version,
  apiVersion: `${group}/${version}`,
  served: true,
  priorities,
  entries: [],
  isCurrent: true,
});

describe('groups of other servers in discovery', () => {
  const versions = [
    other('low.example.com', 'v1', { group: 10, version: 10 }),
    other('high.example.com', 'v1', { group: 19_000, version: 10 }),
    other('high.example.com', 'v2alpha1', { group: 10, version: 20 }),
    other('high.example.com', 'v1beta1', { group: 10, version: 10 }),
    other('apps', 'v9', { group: 10, version: 100 }),
    other('batch', 'v1', { group: 10, version: 10 }),
  ];
  const priorities: Others['priorities'] = new Map([['v1.apps', { group: 17_800, version: 15 }]]);
  const documents = discoveryDocuments(registry, naming, { others: { versions, priorities } });
  const documentAt = (path: string, accept = 'application/json'): Shown =>
    JSON.parse(Buffer.from(documents.answer(path, accept, undefined)!.bytes).toString()) as Shown;
  const versionsOf = (path: string): string[] => documentAt(path).versions.map(({ version }) => version);

  test('are ordered by their highest group priority, and then by name', () => {
    const names = documentAt('/apis').groups.map(({ name }) => name);
    expect(names.indexOf('high.example.com')).toBeLessThan(names.indexOf('apps'));
    expect(names.at(-1)).toBe('low.example.com');
  });

  test('have versions ordered by priority; with the same priority, the most stable one is first', () => {
    expect(versionsOf('/apis/high.example.com')).toEqual(['v2alpha1', 'v1', 'v1beta1']);
    expect(documentAt('/apis/high.example.com').preferredVersion.version).toBe('v2alpha1');
  });

  test('may share groups with this server, and replace its versions', () => {
    expect(versionsOf('/apis/apps')).toEqual(['v9', 'v1']);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = documentAt('/apis', accept);
    const batch = items.find(({ metadata }) => metadata.name === 'batch');
    expect(batch?.versions).toEqual([{ version: 'v1', freshness: 'Current' }]);
  });
});

describe('discovery documents of other servers', () => {
  test('in the old form become entries, with subresources in those of their resources', () => {
    const verbs = ['get'];
    const resources = [
      { name: 'cups', singularName: 'cup', namespaced: true, kind: 'Cup', verbs, shortNames: ['c'] },
      { name: 'cups/status', singularName: '', namespaced: true, kind: 'Cup', verbs },
      { name: 'lost/scale', namespaced: false, kind: 'Scale', group: 'autoscaling', version: 'v1', verbs },
    ];
    expect(receivedList({ resources })).toEqual([
      {
        resource: 'cups',
        responseKind: { group: '', version: '', kind: 'Cup' },
        scope: 'Namespaced',
        singularResource: 'cup',
        verbs,
        shortNames: ['c'],
        subresources: [{ subresource: 'status', responseKind: { group: '', version: '', kind: 'Cup' }, verbs }],
      },
      {
        resource: 'lost',
        responseKind: { group: '', version: '', kind: '' },
        scope: 'Cluster',
        singularResource: '',
        verbs: [],
        subresources: [
          { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs },
        ],
      },
    ]);
  });

  test('lose members that discovery does not have, and members of a wrong type', () => {
    const resources = [{ resource: 'cups', scope: 7, verbs: ['get', null], evil: true }, 'cups', null];
    const document = { items: [{ metadata: { name: 'a.example.com' }, versions: [{ version: 'v1', resources }] }, 3] };
    expect([...receivedEntries(document)]).toEqual([['v1.a.example.com', [{ resource: 'cups', verbs: ['get'] }]]]);
    expect(receivedList({ resources: 'none' })).toEqual([]);
    expect([...receivedEntries({})]).toEqual([]);
  });
});

describe('OpenAPI documents of other servers', () => {
  const part = partOf(
    {
      paths: {
        '/apis/a.example.com/v1/cups': { get: { schema: { $ref: '#/definitions/Cup' } } },
        '/apis/a.example.com/v10/cups': {},
        '/api/v1/pods': {},
      },
      definitions: {
        Cup: { properties: { meta: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' } } },
        'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
          type: 'string',
          properties: { next: { $ref: '#/definitions/Cup' } },
        },
        Unused: {},
      },
    },
    '/apis/a.example.com/v1',
  );

  test('are reduced to the paths of the version, and what these refer to', () => {
    expect(Object.keys(part.paths)).toEqual(['/apis/a.example.com/v1/cups']);
    expect(Object.keys(part.definitions).sort()).toEqual(['Cup', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']);
  });

  test('are merged into the document of this server, with new names for definitions that differ', () => {
    const others = { urls: new Map(), parts: new Map([['apis/a.example.com/v1', part]]) };
    const { definitions, paths } = textOf(openApiDocuments(registry, naming, { others }));
    const renamed = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2';
    expect(definitions[renamed]?.properties['next']?.$ref).toBe('#/definitions/Cup');
    expect(definitions['Cup']?.properties['meta']?.$ref).toBe(`#/definitions/${renamed}`);
    expect(paths).toHaveProperty(['/apis/a.example.com/v1/cups']);
    const own = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
    expect(definitions[own]).toEqual(textOf(openApiDocuments(registry, naming)).definitions[own]);
  });

  test('get new names that no other definition of the same document has', () => {
    const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
    const names = [name, `${name}_v2`];
    const root = '/apis/a.example.com/v1';
    const document = {
      paths: { [root]: { get: { responses: names.map(one => ({ schema: { $ref: `#/definitions/${one}` } })) } } },
      definitions: Object.fromEntries(names.map(one => [one, { description: `That of ${one}` }])),
    };
    const others = { urls: new Map(), parts: new Map([['apis/a.example.com/v1', partOf(document, root)]]) };
    const { definitions } = textOf(openApiDocuments(registry, naming, { others }));
    expect(definitions).toMatchObject({
      [`${name}_v2`]: { description: `That of ${name}_v2` },
      [`${name}_v3`]: { description: `That of ${name}` },
    });
  });
});
