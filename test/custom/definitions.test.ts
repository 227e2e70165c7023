import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, type Loose, listOf, causesIn } from '../api/support.js';
import { openWatch } from '../api/watching.js';
import { defineResource } from '../server/library.js';
import { MERGE } from '../support/mediaTypes.js';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly [member: string]: unknown;
}

/**
 * A definition of `plural` in `group`. All versions are served, and the first is the storage version unless another has
 * `storage`.
 */
function definition(group: string, plural: string, kind: string, versions: readonly Version[], spec: object = {}) {
  const chosen = versions.some(version => version.storage);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: versions.map((version, i) => ({
        served: true,
        storage: !chosen && i === 0,
        schema: { openAPIV3Schema: { type: 'object' } },
        ...version,
      })),
      ...spec,
    },
  };
}

const schema = (spec: object, more: object = {}) => ({
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: spec } } } },
  ...more,
});
const thing = (group: string, version: string, kind: string, name: string, more: object = {}) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name },
  ...more,
});
const conditionOf = (body: Loose | undefined, type: string): Loose | undefined =>
  (body?.['status']?.['conditions'] as unknown as Loose[] | null | undefined)?.find(
    c => (c['type'] as unknown) === type,
  );

it('a definition whose conversion webhook has no valid CA bundle is not established', async () => {
  const api = await Api.shared();
  const clientConfig = { url: 'https://hooks.example', caBundle: Buffer.from('no certificate').toString('base64') };
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const names = { plural: 'jars', kind: 'Jar' };
  const path = `${CRDS}/jars.bundles.example.com`;
  const spec = { group: 'bundles.example.com', scope: 'Cluster', names, versions, conversion };
  await api.made(CRDS, { metadata: { name: 'jars.bundles.example.com' }, spec });
  await api.until(async () => conditionOf((await api.get(path)).body, 'Established') !== undefined);
  expect(conditionOf((await api.get(path)).body, 'Established')).toMatchObject({
    status: 'False',
    reason: 'InvalidCABundle',
    message: 'The conversion webhook CABundle is invalid',
  });
  await api.patch(path, 'application/merge-patch+json', { spec: { conversion: { strategy: 'None', webhook: null } } });
  await api.until(
    async () => (conditionOf((await api.get(path)).body, 'Established')?.['status'] as unknown) === 'True',
  );
  await api.close();
});

async function establish(api: Api, body: { readonly metadata: { readonly name: string } }): Promise<string> {
  const answer = await api.post(CRDS, body);
  if (answer.status !== 201) throw new Error(answer.text);
  const path = `${CRDS}/${body.metadata.name}`;
  await api.until(
    async () => (conditionOf((await api.get(path)).body, 'Established')?.['status'] as unknown) === 'True',
  );
  return path;
}

describe('definitions of custom resources', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api?.close());

  it('a Table watch of a kind that is removed ends without a bookmark', async () => {
    const path = await establish(api, definition('gone.example.com', 'things', 'Thing', [{ name: 'v1' }]));
    const things = '/apis/gone.example.com/v1/namespaces/default/things';
    const { resourceVersion } = (await api.get(things)).body['metadata'] as Loose;
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${String(resourceVersion)}`;
    const watch = await openWatch(api.server, `${things}?${query}`, TABLE);
    await api.post(things, thing('gone.example.com', 'v1', 'Thing', 'one'));
    expect((await watch.next())!.type).toBe('ADDED');
    await api.delete(path);
    expect((await watch.rest()).map(event => event.type)).not.toContain('BOOKMARK');
  });

  it('have bookmarks with a null creationTimestamp only in the metadata form', async () => {
    await establish(api, definition('marked.example.com', 'things', 'Thing', [{ name: 'v1' }]));
    const path = '/apis/marked.example.com/v1/namespaces/default/things?watch=1&allowWatchBookmarks=true';
    const bookmark = async (accept: string): Promise<unknown> => {
      const watch = await openWatch(
        api.server,
        `${path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
        accept,
      );
      const first = await watch.next();
      watch.close();
      return first!.object['metadata'];
    };
    const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    expect(await bookmark(partial)).toHaveProperty('creationTimestamp', null);
    expect(await bookmark('application/json')).not.toHaveProperty('creationTimestamp');
  });

  it('are served from the request after the one that shows them as Established', async () => {
    const group = 'soon.example.com';
    const path = `/apis/${group}/v1/namespaces/default/widgets`;
    expect(await api.get(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
    const crd = definition(group, 'widgets', 'Widget', [
      { name: 'v1', ...schema({ n: { type: 'integer', default: 4 } }) },
    ]);
    expect((await api.post(CRDS, crd)).body['status']).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
    await api.until(
      async () =>
        (conditionOf((await api.get(`${CRDS}/widgets.${group}`)).body, 'Established')?.['status'] as unknown) ===
        'True',
    );
    expect((await api.get(path)).status).toBe(200);
    expect((await api.post(path, thing(group, 'v1', 'Widget', 'a', { spec: {} }))).body['spec']).toEqual({ n: 4 });
    expect((await api.get(`/apis/${group}`)).body['preferredVersion']).toEqual({
      groupVersion: `${group}/v1`,
      version: 'v1',
    });
    expect((await api.get(`/openapi/v3/apis/${group}/v1`)).text).toContain('"com.example.soon.v1.Widget"');
    expect((await api.get('/openapi/v2')).text).toContain('"com.example.soon.v1.Widget"');
  });

  it('convert between versions only by name, prune by the requested version, and warn about deprecated ones', async () => {
    const group = 'ver.example.com';
    const number = { type: 'integer' };
    const versions = [
      { name: 'v1', storage: true, ...schema({ a: number, old: number }) },
      { name: 'v2', ...schema({ a: number }) },
      { name: 'v1alpha1', deprecated: true, ...schema({ old: number }) },
      { name: 'v3', served: false, ...schema({}) },
    ];
    await establish(api, definition(group, 'widgets', 'Widget', versions));
    const at = (version: string) => `/apis/${group}/${version}/namespaces/default/widgets`;
    await api.made(at('v1'), thing(group, 'v1', 'Widget', 'a', { spec: { a: 1, old: 2 } }));
    expect((await api.get(`${at('v2')}/a`)).body).toMatchObject({ apiVersion: `${group}/v2`, spec: { a: 1 } });
    const deprecated = await api.get(`${at('v1alpha1')}/a`);
    expect(deprecated.body['spec']).toEqual({ old: 2 });
    expect(deprecated.headers['warning']).toBe(
      `299 - "${group}/v1alpha1 Widget is deprecated; use ${group}/v2 Widget"`,
    );
    expect((await api.get(`${at('v3')}/a`)).text).toBe('404 page not found\n');
  });

  it('have a hash of their storage version in discovery if that version is served', async () => {
    const group = 'hash.example.com';
    const versionsOf = (served: boolean): Version[] => [
      { name: 'v1', storage: true, served, ...schema({}) },
      { name: 'v2', ...schema({}) },
    ];
    const crd = await establish(api, definition(group, 'widgets', 'Widget', versionsOf(true)));
    const hash = async () => (await api.get(`/apis/${group}/v2`)).body['resources']![0]!['storageVersionHash'];
    expect(await hash()).toMatch(/^.{11}=$/);
    const { spec } = definition(group, 'widgets', 'Widget', versionsOf(false));
    await api.patch(crd, MERGE, { spec: { versions: spec.versions } });
    expect(await hash()).toBeUndefined();
  });

  it('show objects with the defaults of the version in which they are stored', async () => {
    const group = 'defaults.example.com';
    const versionsOf = (storage: string): Version[] => [
      { name: 'v1', storage: storage === 'v1', ...schema({ a: { type: 'string' } }) },
      { name: 'v2', storage: storage === 'v2', ...schema({ a: { type: 'string', default: 'x' } }) },
    ];
    const crd = await establish(api, definition(group, 'widgets', 'Widget', versionsOf('v1')));
    const at = (version: string) => `/apis/${group}/${version}/namespaces/default/widgets`;
    await api.made(at('v1'), thing(group, 'v1', 'Widget', 'old', { spec: {} }));
    const { spec } = definition(group, 'widgets', 'Widget', versionsOf('v2'));
    await api.patch(crd, MERGE, { spec: { versions: spec.versions } });
    await api.made(at('v2'), thing(group, 'v2', 'Widget', 'new', { spec: {} }));
    for (const version of ['v1', 'v2']) {
      expect((await api.get(`${at(version)}/old`)).body['spec']).toEqual({});
      expect((await api.get(`${at(version)}/new`)).body['spec']).toEqual({ a: 'x' });
    }
  });

  it('are refused with all errors in upstream’s order', async () => {
    const bad = (type: string) => schema({ a: { type, default: {} } });
    const more = { preserveUnknownFields: true, conversion: { strategy: 'Nope' } };
    const versions = [
      { name: 'v1', ...bad('integer'), selectableFields: [{ jsonPath: 'x' }] },
      { name: 'v2', ...bad('string'), selectableFields: [{ jsonPath: 'x' }], deprecationWarning: 'x' },
    ];
    const made = definition('order.example.com', 'orders', 'Order', versions, more);
    const { body } = await api.post(CRDS, { ...made, spec: { ...made.spec, scope: 'x' } });
    const causes = causesIn(body);
    const shown = causes.map(({ field }) => field.replace(/(\[\d\])\.schema.*/, '$1.schema'));
    expect(shown).toEqual([
      ...['spec.scope', 'spec.preserveUnknownFields', 'spec.versions[0].schema'],
      ...['spec.versions[1].deprecationWarning', 'spec.versions[1].schema', 'spec.selectableFields'],
      ...['spec.conversion.strategy', 'spec.conversion.strategy', 'spec.preserveUnknownFields'],
    ]);
  });

  it('are refused with one error for a name, and with errors for members that the strategy or an absent schema excludes', async () => {
    const label = 'X'.repeat(64);
    const webhook = { clientConfig: { url: 'https://a.example' }, conversionReviewVersions: ['v1'] };
    const more = { conversion: { strategy: '', webhook }, preserveUnknownFields: true };
    const bare = { name: label, schema: undefined, selectableFields: [{ jsonPath: '.spec.a' }] };
    const made = definition('excluded.example.com', 'cups', 'Cup', [bare], more);
    const names = { ...made.spec.names, kind: 'Cup_', listKind: 'Cup_', categories: [label] };
    const { body } = await api.post(CRDS, { ...made, spec: { ...made.spec, names } });
    const causes = causesIn(body);
    expect(causes.map(({ field }) => field)).toEqual([
      ...['spec.versions[0].schema.openAPIV3Schema', 'spec.versions[0].name', 'spec.version'],
      ...['spec.names.singular', 'spec.names.kind', 'spec.names.listKind', 'spec.names.listKind'],
      'spec.names.categories[0]',
      ...['spec.selectableFields', 'spec.conversion.strategy', 'spec.conversion.strategy'],
      ...['spec.conversion.webhookClientConfig', 'spec.conversion.conversionReviewVersions'],
      'spec.preserveUnknownFields',
    ]);
    expect(causes[1]!.message).toMatch(/: must be no more than 63 characters,a DNS-1035 label must /);
  });

  it('refuse a conversion without a strategy', async () => {
    const crd = definition('nostrategy.example.com', 'widgets', 'Widget', [{ name: 'v1' }], { conversion: {} });
    const { status, body } = await api.post(CRDS, crd);
    expect([status, body['message']]).toEqual([
      422,
      expect.stringContaining('is invalid: spec.conversion.strategy: Required value'),
    ]);
  });

  it('wait for names that other definitions of the group have', async () => {
    const group = 'names.example.com';
    const first = await establish(api, definition(group, 'apples', 'Apple', [{ name: 'v1' }]));
    const second = `${CRDS}/pears.${group}`;
    await api.made(
      CRDS,
      definition(group, 'pears', 'Apple', [{ name: 'v1' }], {
        names: { plural: 'pears', kind: 'Apple', listKind: 'PearList', singular: 'pear' },
      }),
    );
    await api.until(async () => conditionOf((await api.get(second)).body, 'NamesAccepted') !== undefined);
    expect(conditionOf((await api.get(second)).body, 'NamesAccepted')).toMatchObject({
      status: 'False',
      reason: 'KindConflict',
      message: '"Apple" is already in use',
    });
    expect((await api.get(`/apis/${group}/v1/pears`)).status).toBe(404);
    await api.delete(first);
    await api.until(
      async () => (conditionOf((await api.get(second)).body, 'Established')?.['status'] as unknown) === 'True',
    );
    expect((await api.get(`/apis/${group}/v1/pears`)).status).toBe(200);
  });

  it('show whether a reserved group was approved, also after the annotation has changed', async () => {
    const group = 'approved.k8s.io';
    const annotation = 'api-approved.kubernetes.io';
    const crd = definition(group, 'widgets', 'Widget', [{ name: 'v1' }]);
    const annotations = { [annotation]: 'unapproved, a test' };
    const path = await establish(api, { ...crd, metadata: { ...crd.metadata, annotations } } as typeof crd);
    const approval = async () =>
      conditionOf((await api.get(path)).body, 'KubernetesAPIApprovalPolicyConformant') as Loose | undefined;
    expect(await approval()).toMatchObject({
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: 'not approved: "unapproved, a test"',
    });
    const approved = { metadata: { annotations: { [annotation]: 'https://example.com/1' } } };
    expect((await api.patch(path, MERGE, approved)).status).toBe(200);
    await api.until(async () => ((await approval())!['status'] as unknown) === 'True');
    expect(await approval()).toMatchObject({
      reason: 'ApprovedAnnotation',
      message: 'approved in https://example.com/1',
    });
    const removed = await api.patch(path, MERGE, { metadata: { annotations: null } });
    expect(removed).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: `metadata.annotations[${annotation}]` }] } },
    });
  });

  it('are deleted after their objects and finalizers', async () => {
    const group = 'gone.example.com';
    const crd = await establish(api, definition(group, 'widgets', 'Widget', [{ name: 'v1' }]));
    const path = `/apis/${group}/v1/namespaces/default/widgets`;
    await api.made(path, {
      ...thing(group, 'v1', 'Widget', 'held'),
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    });
    await api.made(path, thing(group, 'v1', 'Widget', 'free'));
    expect((await api.delete(crd)).body['metadata']!['finalizers']).toEqual([
      'customresourcecleanup.apiextensions.k8s.io',
    ]);
    expect(await api.post(path, thing(group, 'v1', 'Widget', 'late'))).toMatchObject({
      status: 405,
      body: { message: 'create not allowed while custom resource definition is terminating' },
    });
    await api.until(async () => (await api.get(`${path}/free`)).status === 404);
    expect((await api.get(crd)).status).toBe(200);
    const discovered = listOf((await api.get(`/apis/${group}/v1`)).body['resources']);
    expect(discovered[0]!['verbs']).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
    await api.patch(`${path}/held`, MERGE, { metadata: { finalizers: null } });
    await api.until(async () => (await api.get(crd)).status === 404);
    expect(await api.get(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
  });

  it('can be deleted while no version is served', async () => {
    const group = 'hidden.example.com';
    const crd = await establish(api, definition(group, 'widgets', 'Widget', [{ name: 'v1' }]));
    await api.made(`/apis/${group}/v1/namespaces/default/widgets`, thing(group, 'v1', 'Widget', 'a'));
    const hide = [{ op: 'replace', path: '/spec/versions/0/served', value: false }];
    expect((await api.patch(crd, 'application/json-patch+json', hide)).status).toBe(200);
    expect((await api.get(`/apis/${group}/v1/widgets`)).status).toBe(404);
    await api.delete(crd);
    await api.until(async () => (await api.get(crd)).status === 404);
  });

  it('end their watches when they are deleted', async () => {
    const group = 'watched.example.com';
    const crd = await establish(api, definition(group, 'widgets', 'Widget', [{ name: 'v1' }]));
    const path = `/apis/${group}/v1/namespaces/default/widgets`;
    await api.made(path, thing(group, 'v1', 'Widget', 'a'));
    const watched = api.get(`${path}?watch=1&timeoutSeconds=600`);
    await api.delete(crd);
    const events = (await watched).text
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { type: string }).type);
    expect(events).toEqual(['ADDED', 'DELETED']);
  });

  it('show stored objects according to a changed schema, in reads and watches', async () => {
    const group = 'changed.example.com';
    const crd = await establish(
      api,
      definition(group, 'widgets', 'Widget', [
        { name: 'v1', ...schema({ a: { type: 'integer' }, b: { type: 'integer' } }) },
      ]),
    );
    const path = `/apis/${group}/v1/namespaces/default/widgets`;
    await api.made(path, thing(group, 'v1', 'Widget', 'x', { spec: { a: 1, b: 2 } }));
    const next = schema({ a: { type: 'integer' }, c: { type: 'integer', default: 3 } }).schema.openAPIV3Schema;
    expect(
      (
        await api.patch(crd, 'application/json-patch+json', [
          { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: next },
        ])
      ).status,
    ).toBe(200);
    expect((await api.get(`${path}/x`)).body['spec']).toEqual({ a: 1, c: 3 });
    expect((await api.get(path)).body['items']).toMatchObject([{ spec: { a: 1, c: 3 } }]);
    const [event] = (await api.get(`${path}?watch=1&timeoutSeconds=1`)).text.trim().split('\n');
    expect(JSON.parse(event!)).toMatchObject({ type: 'ADDED', object: { spec: { a: 1, c: 3 } } });
  });

  const refused: readonly [string, object, string][] = [
    ['scope is required [R493]', { scope: undefined }, 'spec.scope'],
    [
      'a schema is required [R500]',
      { versions: [{ name: 'v1', served: true, storage: true }] },
      'spec.versions[0].schema.openAPIV3Schema',
    ],
    ['preserveUnknownFields may not be true [R502]', { preserveUnknownFields: true }, 'spec.preserveUnknownFields'],
    ['names must be well-formed', { names: { plural: 'bads', kind: 'bad_kind' } }, 'spec.names.kind'],
  ];
  it.each(refused)('are refused: %s', async (_what, spec, field) => {
    const answer = await api.post(
      `${CRDS}?dryRun=All`,
      definition('bad.example.com', 'bads', 'Bad', [{ name: 'v1' }], spec),
    );
    expect(answer.status).toBe(422);
    expect(causesIn(answer.body).map(cause => cause.field)).toContain(field);
  });

  it('do not accept members of the older version [R494, R495, R496, R497]', async () => {
    const old = { version: 'v1', validation: {}, subresources: {}, additionalPrinterColumns: [] };
    const answer = await api.post(
      `${CRDS}?dryRun=All&fieldValidation=Strict`,
      definition('old.example.com', 'olds', 'Old', [{ name: 'v1' }], old),
    );
    expect(answer.status).toBe(400);
    for (const member of Object.keys(old)) expect(answer.text).toContain(`unknown field \\"spec.${member}\\"`);
  });

  it('accept a conversion webhook in the form of v1 [R498, R499]', async () => {
    const webhook = { clientConfig: { url: 'https://convert.example.com' }, conversionReviewVersions: ['v1'] };
    const body = definition('hook.example.com', 'hooks', 'Hook', [{ name: 'v1' }], {
      conversion: { strategy: 'Webhook', webhook },
    });
    expect((await api.post(`${CRDS}?dryRun=All`, body)).status).toBe(201);
  });
});

describe('custom resources over a restart', () => {
  it('are served immediately, even if their group precedes that of the definitions in the store', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'custom-'));
    const group = 'aaa.example.com';
    const path = `/apis/${group}/v1/namespaces/default/widgets`;
    const settings = { storage: 'rocksdb', dataDir } as const;
    try {
      const before = await Api.start(settings);
      await establish(
        before,
        definition(group, 'widgets', 'Widget', [
          { name: 'v1', ...schema({ n: { type: 'integer' } }, { selectableFields: [{ jsonPath: '.spec.n' }] }) },
        ]),
      );
      await before.made(path, thing(group, 'v1', 'Widget', 'a', { spec: { n: 1 } }));
      await before.close();
      const after = await Api.start(settings);
      expect((await after.get(`${path}?fieldSelector=spec.n%3D1`)).body['items']).toMatchObject([
        { metadata: { name: 'a' } },
      ]);
      await after.close();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('of a program show objects of an older schema according to the new one', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'custom-'));
    const type = (spec: object) =>
      defineResource({
        group: 'own.example.com',
        kind: 'Widget',
        plural: 'widgets',
        scope: 'Namespaced',
        schema: { type: 'object', properties: { spec: { type: 'object', properties: spec as never } } },
      });
    const path = '/apis/own.example.com/v1/namespaces/default/widgets';
    try {
      const before = await Api.start({ storage: 'rocksdb', dataDir, resources: [type({ a: { type: 'integer' } })] });
      await before.made(path, thing('own.example.com', 'v1', 'Widget', 'x', { spec: { a: 1 } }));
      await before.close();
      const after = await Api.start({
        storage: 'rocksdb',
        dataDir,
        resources: [type({ b: { type: 'integer', default: 2 } })],
      });
      expect((await after.get(`${path}/x`)).body['spec']).toEqual({ b: 2 });
      await after.close();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('of a program without structural schema fail the start with all problems', async () => {
    const bad = defineResource({
      group: 'bad.example.com',
      kind: 'Bad',
      plural: 'bads',
      scope: 'Cluster',
      schema: { type: 'object', properties: { a: {} } },
    });
    await expect(Api.start({ resources: [bad] })).rejects.toThrow('properties[a].type: Required value');
    const checked = defineResource({
      group: 'bad.example.com',
      kind: 'Bad',
      plural: 'bads',
      scope: 'Cluster',
      validate: () => [],
    });
    await expect(Api.start({ resources: [checked] })).rejects.toThrow('cannot be sent to other threads');
  });
});
