import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { DocumentAnswer } from '../../core/services/discovery/answer.js';
import { namingOf } from '../../core/naming.js';
import { encodeV2 } from '../../core/services/openapi/gnostic.js';
import { openApiDocuments, type Schema } from '../../core/services/openapi/index.js';
import { defineResource } from '../../core/api/resource/defineResource.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import { buildRegistry, extendRegistry } from '../../core/schema/registry/registry.js';

const naming = namingOf('kubernetes');
const registry = buildRegistry({ naming, strategies: () => undefined, generation: 1 });
const documents = openApiDocuments(registry, naming);
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const get = (path: string, hash?: string, accept?: string, tag?: string): DocumentAnswer => {
  const answer = documents.answer(path, hash, accept, tag);
  if (!answer) throw new Error(`nothing at ${path}`);
  return answer;
};
const body = (answer: DocumentAnswer): never => JSON.parse(Buffer.from(answer.bytes).toString()) as never;
type Document = {
  paths: Record<string, Record<string, Schema>>;
  components: { schemas: Record<string, Schema> };
  definitions: Record<string, Schema>;
};

/** Every `$ref` in a value. */
function references(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) references(item, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string') found.add(member);
      else references(member, found);
    }
  }
  return found;
}

describe('version 3', () => {
  const index = body(get('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };

  it('lists every group version with the hash of its document [R106x]', () => {
    expect(Object.keys(index.paths)).toContain('api/v1');
    for (const [name, { serverRelativeURL }] of Object.entries(index.paths)) {
      expect(serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${name.replaceAll('.', '\\.')}\\?hash=[0-9A-F]+$`));
    }
  });

  it("lists unversioned documents, with upstream's names of operations", () => {
    expect(Object.keys(index.paths)).toEqual(Object.keys(index.paths).sort());
    for (const [name, path, operationId, tag, schema] of [
      ['api', '/api/', 'getCoreAPIVersions', 'core', 'APIVersions'],
      ['apis', '/apis/', 'getAPIVersions', 'apis', 'APIGroupList'],
      [
        'apis/rbac.authorization.k8s.io',
        '/apis/rbac.authorization.k8s.io/',
        'getRbacAuthorizationAPIGroup',
        'rbacAuthorization',
        'APIGroup',
      ],
      ['api/v1', '/api/v1/', 'getCoreV1APIResources', 'core_v1', 'APIResourceList'],
    ] as const) {
      expect(index.paths).toHaveProperty([name]);
      const { paths } = body(get(`/openapi/v3/${name}`)) as Document;
      expect(paths[path]!.get).toMatchObject({ operationId, tags: [tag] });
      expect(references(paths[path])).toContain(`#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.${schema}`);
      expect((body(get('/openapi/v2')) as Document).paths[path]!.get).toMatchObject({ operationId, tags: [tag] });
    }
    expect(index.paths).toHaveProperty(['version']);
  });

  it('has a schema for every reference, in all documents', () => {
    for (const name of Object.keys(index.paths)) {
      const document = body(get(`/openapi/v3/${name}`)) as Document;
      for (const reference of references(document)) {
        expect(document.components.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
      }
    }
  });

  it('can be cached with its hash, and redirects from an old hash', () => {
    const hash = index.paths['apis/policy/v1']?.serverRelativeURL.split('hash=')[1];
    const kept = get('/openapi/v3/apis/policy/v1', hash);
    expect(kept.headers).toMatchObject({
      'cache-control': 'public, immutable',
      vary: 'Accept',
      expires: expect.any(String),
    });
    expect(kept.etag).toBe(`"${hash}"`);
    expect(get('/openapi/v3/apis/policy/v1').headers['cache-control']).toBe('no-cache, private');
    const old = get('/openapi/v3/apis/policy/v1', '00');
    expect([old.status, old.headers.location]).toEqual([301, index.paths['apis/policy/v1']?.serverRelativeURL]);
    expect(get('/openapi/v3/apis/policy/v1', undefined, undefined, kept.etag).status).toBe(304);
  });

  it('redirects from an old hash without a body, after the media type was negotiated', () => {
    const path = '/openapi/v3/apis/policy/v1';
    const { bytes, contentType, etag, headers } = get(path, '00');
    expect([bytes.length, contentType, etag, headers.vary]).toEqual([0, 'application/json', get(path).etag, 'Accept']);
    expect(get(path, '00', 'text/html').status).toBe(406);
  });

  it('is 406 for other media types and 404 for documents that are not served, without a body', () => {
    const bare = (path: string, accept?: string): [number, string, number] => {
      const { status, contentType, bytes } = get(path, undefined, accept);
      return [status, contentType, bytes.length];
    };
    expect(bare('/openapi/v3/apis/policy/v1', 'text/html')).toEqual([406, '', 0]);
    for (const name of ['apis/apps/v9', 'nosuch', 'api/v1/', ''])
      expect(bare(`/openapi/v3/${name}`)).toEqual([404, '', 0]);
    expect(documents.answer('/openapi/v4', undefined, undefined, undefined)).toBeUndefined();
  });

  it('has an index that ignores the Accept header', () => {
    const { status, contentType, etag } = get('/openapi/v3', undefined, 'text/html', '*');
    expect([status, contentType, etag]).toEqual([200, 'text/plain; charset=utf-8', undefined]);
  });

  it('accepts * for every tag, and answers without content type if nothing changed', () => {
    for (const path of ['/openapi/v2', '/openapi/v3/apis/policy/v1'])
      for (const tag of ['*', ' * ', get(path).etag, `"x", W/${get(path).etag}`])
        expect(get(path, undefined, undefined, tag)).toMatchObject({
          status: 304,
          contentType: '',
          etag: get(path).etag,
        });
  });

  it('has action, kind and parameters of operations', () => {
    const { paths } = body(get('/openapi/v3/apis/apps/v1')) as Document;
    const scale = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale']?.patch;
    expect(scale).toMatchObject({
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'autoscaling', kind: 'Scale', version: 'v1' },
    });
    expect(paths['/apis/apps/v1/deployments']).not.toHaveProperty('post');
  });

  it('has unique operation ids in each document', () => {
    for (const name of Object.keys(index.paths)) {
      const { paths } = body(get(`/openapi/v3/${name}`)) as Document;
      const ids = Object.values(paths).flatMap(item =>
        Object.values(item).flatMap(o => (typeof o.operationId === 'string' ? [o.operationId] : [])),
      );
      expect(new Set(ids).size, name).toBe(ids.length);
    }
  });

  it('describes values that have several forms without a type, so that clients accept all of them', () => {
    const { components } = body(get('/openapi/v3/apis/apiextensions.k8s.io/v1')) as Document;
    const either =
      components.schemas['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray'];
    expect(Object.keys(either ?? {})).toEqual(['description']);
  });

  it('has descriptions of fields', () => {
    const { components } = body(get('/openapi/v3/api/v1')) as Document;
    const spec = components.schemas['io.k8s.api.core.v1.PodSpec'] as { properties: Record<string, Schema> };
    expect(spec.properties.restartPolicy).toEqual({
      type: 'string',
      description: 'When ended containers are restarted: "Always" (default), "OnFailure" or "Never".',
      enum: ['Always', 'Never', 'OnFailure'],
    });
  });
});

describe('version 2', () => {
  const document = body(get('/openapi/v2')) as Document;

  it('describes all groups in one document without a dangling reference', () => {
    for (const reference of references(document)) expect(document).toHaveProperty(reference.split('/').slice(1));
    expect(document.paths).toHaveProperty(['/apis/batch/v1/namespaces/{namespace}/jobs']);
  });

  it('is JSON or protobuf depending on Accept, and 304 for its tag', () => {
    expect(get('/openapi/v2').contentType).toBe('application/json');
    expect(get('/openapi/v2', undefined, 'text/html,application/json').contentType).toBe('application/json');
    expect(get('/openapi/v2', undefined, `${PROTOBUF},application/json`).contentType).toBe(PROTOBUF.replace('@', '.'));
    expect(get('/openapi/v2', undefined, 'text/html')).toMatchObject({
      status: 406,
      contentType: '',
      bytes: new Uint8Array(),
    });
    const { etag } = get('/openapi/v2');
    expect(get('/openapi/v2', undefined, undefined, etag).status).toBe(304);
    expect(get('/openapi/v2', undefined, undefined, '"x"').status).toBe(200);
  });

  it('keeps names, types, references and extensions in the protobuf form', () => {
    const { root } = protobuf.parse(`syntax = "proto3";
      message Any { string yaml = 2; }
      message NamedAny { string name = 1; Any value = 2; }
      message Items { repeated Schema schema = 1; }
      message Type { repeated string value = 1; }
      message Schema {
        string ref = 1; string format = 2; string description = 4; repeated string required = 19; Type type = 22;
        Items items = 23; Properties properties = 25; repeated NamedAny vendor = 31;
      }
      message NamedSchema { string name = 1; Schema value = 2; }
      message Properties { repeated NamedSchema entry = 1; }
      message Operation { repeated string tags = 1; string operationId = 5; repeated NamedAny vendor = 13; }
      message PathItem { Operation get = 2; Operation post = 4; }
      message NamedPath { string name = 1; PathItem value = 2; }
      message Paths { repeated NamedPath path = 2; }
      message Document { string swagger = 1; Paths paths = 8; Properties definitions = 9; }`);
    const type = root.lookupType('Document');
    const bytes = encodeV2(document as unknown as Schema);
    const decoded = type.toObject(type.decode(bytes)) as {
      swagger: string;
      paths: { path: { name: string; value: { get?: { operationId: string; vendor: unknown[] } } }[] };
      definitions: { entry: { name: string; value: Schema }[] };
    };
    expect(decoded.swagger).toBe('2.0');
    expect(decoded.definitions.entry.map(e => e.name)).toEqual(Object.keys(document.definitions));
    expect(decoded.paths.path.map(p => p.name)).toEqual(Object.keys(document.paths));
    const spec = decoded.definitions.entry.find(e => e.name === 'io.k8s.api.core.v1.PodSpec')?.value as {
      required: string[];
      properties: {
        entry: { name: string; value: { type: { value: string[] }; items: { schema: Schema[] }; vendor: unknown[] } }[];
      };
    };
    expect(spec.required).toEqual(['containers']);
    const containers = spec.properties.entry.find(e => e.name === 'containers')?.value;
    expect(containers?.type.value).toEqual(['array']);
    expect(containers?.items.schema[0]).toMatchObject({ ref: '#/definitions/io.k8s.api.core.v1.Container' });
    expect(containers?.vendor).toContainEqual({ name: 'x-kubernetes-list-map-keys', value: { yaml: '["name"]' } });
  });
});

describe('descriptions', () => {
  type Described = { readonly description?: string; readonly parameters?: readonly Described[] };
  type Item = Record<string, Described | readonly Described[]>;
  const { paths } = body(get('/openapi/v3/api/v1')) as { paths: Record<string, Item> };
  const isOne = (value: Item[string]): value is Described => !Array.isArray(value);
  const operations = Object.values(paths).flatMap(item => Object.values(item).filter(isOne));
  const items: readonly Described[] = Object.values(paths);

  it('exist for every operation and every parameter', () => {
    const all = [...operations, ...[...items, ...operations].flatMap(({ parameters = [] }) => parameters)];
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter(({ description = '' }) => description.length < 20)).toEqual([]);
  });

  it('have the phrases that client tests look for', () => {
    const text = Buffer.from(get('/openapi/v3/api/v1').bytes).toString();
    for (const phrase of [
      'list of returned',
      'List of services',
      'Watch for changes to the described resources',
      'APIVersion defines',
      'Kind is a string value',
    ])
      expect(text).toContain(phrase);
  });
});

describe('order and presence of members', () => {
  it('required fields are in the order of their declaration, and no parameters are omitted', () => {
    const document = body(get('/openapi/v2')) as {
      definitions: { [name: string]: Schema };
      paths: { [path: string]: { get?: { parameters?: unknown } } };
    };
    expect(document.definitions['io.k8s.api.apps.v1.DeploymentCondition']!.required).toEqual(['type', 'status']);
    expect(document.paths['/api/v1/']!.get).not.toHaveProperty('parameters');
    expect(document.paths['/api/v1/pods']!.get ?? {}).toHaveProperty('operationId');
  });
});

describe('rendering', () => {
  it('can be done before requests and results in the same bytes', async () => {
    const warmed = openApiDocuments(registry, naming);
    for (const path of ['/openapi/v2', '/openapi/v3']) await warmed.prepare(path);
    const hash = (set: typeof warmed): string | undefined =>
      set.answer('/openapi/v2', undefined, undefined, undefined)?.etag;
    expect(hash(warmed)).toBe(hash(documents));
  });

  it('of many kinds lets other work run between group versions', async () => {
    const unprepared = openApiDocuments(registry, naming);
    for (const path of ['/openapi/v2', '/openapi/v3']) {
      let turns = 0;
      let done = false;
      const count = (): void => {
        turns++;
        if (!done) setImmediate(count);
      };
      setImmediate(count);
      await unprepared.prepare(path);
      done = true;
      expect(turns).toBeGreaterThanOrEqual(registry.groups.size);
    }
  });

  it('describes a changed kind again, and the others as before', () => {
    const type = (cups: string) =>
      resourcesOf(
        defineResource({
          group: 'tea.example.com',
          kind: 'Order',
          plural: 'orders',
          scope: 'Cluster',
          schema: { type: 'object', properties: { [cups]: { type: 'integer' } } },
        }),
      );
    const first = openApiDocuments(extendRegistry(registry, type('cups'), 2), naming);
    const textOf = (set: typeof first): string =>
      Buffer.from(set.answer('/openapi/v2', undefined, undefined, undefined)!.bytes).toString();
    expect(textOf(first)).toContain('"cups":{"type":"integer"}');
    const changed = extendRegistry(registry, type('pots'), 3);
    const second = textOf(openApiDocuments(changed, naming, {}, first));
    expect(second).toBe(textOf(openApiDocuments(changed, naming)));
    expect(second).toContain('"pots":{"type":"integer"}');
    expect(second).not.toContain('"cups"');
  });

  it('uses the names in the naming of the server', () => {
    const neutral = namingOf('neutral');
    const set = openApiDocuments(
      buildRegistry({ naming: neutral, strategies: () => undefined, generation: 1 }),
      neutral,
    );
    const text = Buffer.from(set.answer('/openapi/v3/api/v1', undefined, undefined, undefined)?.bytes ?? []).toString();
    expect(text).toContain('io.orchestrator.api.core.v1.Pod');
    expect(text).not.toMatch(/io\.k8s|vnd\.kubernetes|k8s\.io/);
  });
});
