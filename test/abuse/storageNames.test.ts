import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Settings } from '../../core/index.js';
import { namingOf, type NamingName } from '../../core/naming.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';
import type { Resource } from '../../core/schema/resource.js';
import { builtInStorageNames } from '../../core/schema/table/storageNames.js';
import { Api, namesIn, listOf } from '../api/support.js';
import { defineResource } from '../server/library.js';
import { formerDirectory } from '../storage/formerLayout/index.js';
import { MERGE } from '../support/mediaTypes.js';
import { writeStore } from '../support/writtenStore.js';

/*
 * Definitions with the names of built-in kinds, in both spellings and both namings, also in stores that were written
 * under the other naming, or by a release that accepted the definitions: no object of a built-in kind is read, changed
 * or deleted through them.
 */

const NAMINGS = ['neutral', 'kubernetes'] as const;
/** Each naming is tested with one listener: stored objects depend on the naming alone. */
const CASES = [
  { naming: 'neutral', listener: 'uws' },
  { naming: 'kubernetes', listener: 'node' },
] as const;
const other = (naming: NamingName): NamingName => (naming === 'neutral' ? 'kubernetes' : 'neutral');

const builtInOf = (naming: NamingName): Resource[] => {
  const { groups } = buildRegistry({ naming: namingOf(naming), generation: 1, strategies: () => undefined });
  return [...groups.values()].flatMap(({ versions }) => versions.flatMap(({ resources }) => [...resources.values()]));
};

const crdPath = (naming: NamingName): string =>
  `/apis/${namingOf(naming).apiVersion('apiextensions.orchestrator.io/v1')}/customresourcedefinitions`;

interface Names {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The names of all built-in resources in a spelling; the group of the core kinds is `core`, as in their keys. */
function namesOf(naming: NamingName): Names[] {
  const found = new Map<string, Names>();
  for (const { group, plural, kind, namespaced } of builtInOf(naming))
    found.set(`${plural}.${group || 'core'}`, { group: group || 'core', plural, kind, namespaced });
  return [...found.values()];
}

const definitionOf = (naming: NamingName, { group, plural, kind, namespaced }: Names, annotations?: object) => ({
  kind: 'CustomResourceDefinition',
  apiVersion: namingOf(naming).apiVersion('apiextensions.orchestrator.io/v1'),
  metadata: { name: `${plural}.${group}`, ...(annotations ? { annotations } : {}) },
  spec: {
    group,
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** Paths and uids of all objects of built-in kinds that can be listed, except those that the server renews itself. */
async function builtInObjects(api: Api, naming: NamingName): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { apiVersion, plural, group, stored } of builtInOf(naming)) {
    if (!stored || plural === 'customresourcedefinitions' || plural === 'events') continue;
    const path = `${group ? '/apis' : '/api'}/${apiVersion}/${plural}`;
    const { status, body } = await api.get(path);
    if (status !== 200) continue;
    for (const { metadata } of body['items'] as unknown as { metadata: Record<string, string> }[])
      found.set(`${path} ${metadata['namespace'] ?? ''}/${metadata['name']}`, metadata['uid']!);
  }
  return found;
}

/** The objects of `before` that are gone or have been replaced. */
const lost = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...before].filter(([path, uid]) => after.get(path) !== uid).map(([path]) => path);

/** Creates objects of kinds of which a new server has no objects: a policy and a certificate signing request. */
async function addObjects(api: Api, naming: NamingName): Promise<void> {
  const { apiVersion } = namingOf(naming);
  const policies = `/apis/${apiVersion('admissionregistration.orchestrator.io/v1')}/validatingadmissionpolicies`;
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  await api.made(policies, {
    metadata: { name: 'all' },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }] },
  });
  await api.made(`/apis/${apiVersion('rbac.authorization.orchestrator.io/v1')}/namespaces/default/roles`, {
    metadata: { name: 'reader' },
    rules: [],
  });
}

async function serve(settings: Partial<Settings>): Promise<Api> {
  const api = await Api.start(settings);
  onTestFinished(() => api.close());
  return api;
}

describe('storage names', () => {
  test.each(NAMINGS)('of custom kinds never equal those of built-in kinds in the %s naming', naming => {
    for (const { group, plural, kind } of namesOf(naming)) {
      const [made] = resourcesOf(defineResource({ group, plural, kind, scope: 'Cluster' }));
      expect(made!.storageName).toBe(`custom:${group}/${plural}`);
      expect(builtInStorageNames().has(made!.storageName)).toBe(false);
    }
  });

  test.each([
    ['a/b', 'pods'],
    ['', 'pods'],
    ['custom:a', 'pods'],
    ['tea.example.com', 'orders/default'],
    ['tea.example.com', ''],
    ['tea.example.com', 'a.b'],
  ])('are not made of the group %j and the plural name %j', (group, plural) => {
    expect(() => resourcesOf(defineResource({ group, plural, kind: 'X', scope: 'Cluster' }))).toThrow(
      /^(group|plural) /,
    );
  });
});

describe.each(CASES)('in the $naming naming, with the listener $listener', ({ naming, listener }) => {
  const crds = crdPath(naming);
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({ naming, listener });
  });
  afterAll(() => api.close());

  test.each(NAMINGS)(
    'definitions of all built-in kinds are refused in the spelling of the %s naming',
    async spelling => {
      await addObjects(api, naming).catch(() => undefined);
      const before = await builtInObjects(api, naming);
      const label = namingOf(naming).label('api-approved.orchestrator.io');
      for (const names of namesOf(spelling))
        for (const annotations of [undefined, { [label]: 'https://example.com/1' }]) {
          const answer = await api.post(crds, definitionOf(naming, names, annotations));
          expect([names.group, answer.status, answer.body['reason']]).toEqual([names.group, 422, 'Invalid']);
        }
      expect(namesIn((await api.get(crds)).body)).toEqual([]);
      expect(lost(before, await builtInObjects(api, naming))).toEqual([]);
    },
  );

  test('definitions of other groups in reserved domains need an approval annotation, which the other naming does not provide', async () => {
    const label = namingOf(naming).label('api-approved.orchestrator.io');
    const own =
      naming === 'neutral' ? ['orchestrator.io', 'a.orchestrator.io'] : ['k8s.io', 'a.b.k8s.io', 'kubernetes.io'];
    const foreign =
      naming === 'neutral'
        ? ['k8s.io', 'a.b.k8s.io', 'a.kubernetes.io', 'kubernetes.io']
        : ['orchestrator.io', 'a.orchestrator.io'];
    const create = (group: string, approval?: string) => {
      const names = { group, plural: 'widgets', kind: 'Widget', namespaced: false };
      return api.post(crds, definitionOf(naming, names, approval === undefined ? undefined : { [label]: approval }));
    };
    for (const group of own) {
      expect((await create(group)).body['message']).toContain('protected groups must have approval annotation');
      expect((await create(group, 'nonsense')).status).toBe(422);
      expect((await create(group, 'https://example.com/1')).status).toBe(201);
      await api.delete(`${crds}/widgets.${group}`);
    }
    for (const group of foreign) {
      const { status, body } = await create(group, 'https://example.com/1');
      expect([status, body['message']]).toEqual([422, expect.stringContaining('belongs to the server')]);
    }
  });
});

const NEW = { resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };

/**
 * A data directory with established definitions, and objects by key, as if an earlier release had accepted all of them.
 */
async function directoryWith(
  naming: NamingName,
  definitions: readonly Names[],
  objects: readonly (readonly [key: string, object: object])[] = [],
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-names-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const stored = definitions.map(names => {
    const { kind, apiVersion, metadata, spec } = definitionOf(naming, names);
    const finalizers = [namingOf(naming).group('customresourcecleanup.apiextensions.orchestrator.io')];
    const conditions = ['NamesAccepted', 'Established'].map(type => ({
      type,
      status: 'True',
      reason: 'X',
      message: '',
    }));
    const status = { acceptedNames: spec.names, storedVersions: ['v1'], conditions };
    const meta = { ...metadata, ...NEW, uid: metadata.name, finalizers };
    const object = { kind, apiVersion, metadata: meta, spec, status };
    return [`apiextensions.orchestrator.io/customresourcedefinitions/${metadata.name}`, object] as const;
  });
  await writeStore(directory, [...stored, ...objects]);
  return directory;
}

const objectOf = (apiVersion: string, kind: string, name: string, namespace?: string) => ({
  kind,
  apiVersion,
  metadata: { name, ...(namespace ? { namespace } : {}), ...NEW, uid: `uid-${name}` },
});

const order = (name: string) => ({ apiVersion: 'tea.example.com/v1', kind: 'Order', metadata: { name } });

describe.each(CASES)('a store with definitions of all built-in kinds, $naming, $listener', ({ naming, listener }) => {
  test('keeps every built-in object when custom objects are created and the definitions deleted', async () => {
    // No release accepted a group without a dot.
    const all = new Map(
      [...namesOf('neutral'), ...namesOf('kubernetes')]
        .filter(one => one.group.includes('.'))
        .map(one => [`${one.plural}.${one.group}`, one]),
    );
    const dataDir = await directoryWith(naming, [...all.values()]);
    const api = await serve({ storage: 'rocksdb', dataDir, naming, listener });
    await addObjects(api, naming);
    const before = await builtInObjects(api, naming);
    expect(before.size).toBeGreaterThan(100);
    const own = new Set(namesOf(naming).map(({ group, plural }) => `${plural}.${group}`));
    for (const { group, plural, kind, namespaced } of all.values()) {
      if (own.has(`${plural}.${group}`)) continue;
      const path = `/apis/${group}/v1/${namespaced ? 'namespaces/default/' : ''}${plural}`;
      const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'mine' } };
      const { status, text } = await api.post(path, object);
      expect([path, status, text]).toEqual([path, 201, expect.any(String)]);
      expect(namesIn((await api.get(path)).body)).toEqual(['mine']);
    }
    expect(lost(before, await builtInObjects(api, naming))).toEqual([]);
    const crds = crdPath(naming);
    await Promise.all([...all.keys()].map(name => api.delete(`${crds}/${name}`)));
    await api.until(async () => namesIn((await api.get(crds)).body).length === 0);
    expect(lost(before, await builtInObjects(api, naming))).toEqual([]);
  });
});

// Two servers each, over RocksDB.
describe.each(NAMINGS)('a definition of the other naming, read under the %s one', naming => {
  test('is not served where a built-in kind has its names, keeps its objects, and can be deleted under its own naming', async () => {
    const roles = namesOf(naming).find(({ plural }) => plural === 'roles')!;
    const { group } = roles;
    const key = `custom:${group}/roles/default/mine`;
    const dataDir = await directoryWith(naming, [roles], [[key, objectOf(`${group}/v1`, 'Role', 'mine', 'default')]]);
    const first = await Api.start({ storage: 'rocksdb', dataDir, naming });
    const path = `/apis/${group}/v1/namespaces/default/roles`;
    await first.made(path, { metadata: { name: 'reader' }, rules: [] });
    const definition = `${crdPath(naming)}/roles.${group}`;
    expect(namesIn((await first.get(path)).body)).toEqual(['reader']);
    expect((await first.get(`${path}/mine`)).status).toBe(404);
    await first.delete(definition);
    const conditionsOf = async () =>
      (await first.get(definition)).body['status']!['conditions'] as unknown as Record<string, string>[];
    await first.until(async () => (await conditionsOf()).some(({ reason }) => reason === 'InstanceDeletionFailed'));
    expect(namesIn((await first.get(path)).body)).toEqual(['reader']);
    await first.close();
    const second = await serve({ storage: 'rocksdb', dataDir, naming: other(naming) });
    await second.until(async () => (await second.get(`${crdPath(other(naming))}/roles.${group}`)).status === 404);
    const { apiVersion } = namingOf(other(naming));
    const builtIn = `/apis/${apiVersion('rbac.authorization.orchestrator.io/v1')}/namespaces/default/roles`;
    expect((await second.get(`${builtIn}/reader`)).status).toBe(200);
  });
});

describe('a definition with the names of a kind of the embedding program', () => {
  const orders = { group: 'tea.example.com', plural: 'orders', kind: 'Order', namespaced: true };
  const path = '/apis/tea.example.com/v1/namespaces/default/orders';
  const crds = crdPath('kubernetes');
  const type = () => defineResource({ ...orders, scope: 'Namespaced' });

  test('is not established, and its deletion deletes no object of the program', async () => {
    const api = await serve({ resources: [type()] });
    await api.made(path, order('a'));
    for (const names of [orders, { ...orders, plural: 'others' }]) {
      await api.made(crds, definitionOf('kubernetes', names));
      const definition = `${crds}/${names.plural}.tea.example.com`;
      const conditions = async () => listOf((await api.get(definition)).body['status']!['conditions']);
      await api.until(async () => ((await conditions()) ?? []).length > 0);
      expect((await conditions()).map(({ type, status }) => `${String(type)}=${String(status)}`)).toEqual([
        'NamesAccepted=False',
        'Established=False',
      ]);
      await api.delete(definition);
      await api.until(async () => (await api.get(definition)).status === 404);
      expect(namesIn((await api.get(path)).body)).toEqual(['a']);
    }
  });

  test('that was established in an earlier run deletes no object of the program either', async () => {
    const key = 'custom:tea.example.com/orders/default/a';
    const object = objectOf('tea.example.com/v1', 'Order', 'a', 'default');
    const dataDir = await directoryWith('kubernetes', [orders], [[key, object]]);
    const api = await serve({ storage: 'rocksdb', dataDir, resources: [type()] });
    expect(namesIn((await api.get(path)).body)).toEqual(['a']);
    await api.delete(`${crds}/orders.tea.example.com`);
    await api.until(async () => (await api.get(`${crds}/orders.tea.example.com`)).status === 404);
    expect(namesIn((await api.get(path)).body)).toEqual(['a']);
  });
});

describe('keys of objects of custom kinds', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  test('a user who may write the status of a definition cannot choose the keys of its objects', async () => {
    const crds = crdPath('kubernetes');
    const make = async (plural: string, kind: string) => {
      await api.made(crds, definitionOf('kubernetes', { group: 'tea.example.com', plural, kind, namespaced: true }));
      await api.until(async () => (await api.get(`/apis/tea.example.com/v1/${plural}`)).status === 200);
    };
    await make('orders', 'Order');
    await api.made('/apis/tea.example.com/v1/namespaces/default/orders', order('a'));
    await make('cups', 'Cup');
    for (const plural of ['orders', 'orders/default', '../core/secrets']) {
      const status = { acceptedNames: { plural, kind: 'Cup', listKind: 'CupList' } };
      await api.patch(`${crds}/cups.tea.example.com/status`, MERGE, { status });
      await api.until(async () => (await api.get('/apis/tea.example.com/v1/cups')).status === 200);
      expect(namesIn((await api.get('/apis/tea.example.com/v1/cups')).body)).toEqual([]);
      expect(namesIn((await api.get('/apis/tea.example.com/v1/orders')).body)).toEqual(['a']);
    }
    await api.delete(`${crds}/cups.tea.example.com`);
    await api.until(async () => (await api.get(`${crds}/cups.tea.example.com`)).status === 404);
    expect(namesIn((await api.get('/apis/tea.example.com/v1/orders')).body)).toEqual(['a']);
  });

  test('a kind whose plural name begins with that of another kind has its own objects; so does a namespace', async () => {
    const kinds = ['order', 'orders', 'ordersx'].map(plural => ({
      group: 'shop.example.com',
      plural,
      kind: `K${plural}`,
      namespaced: true,
    }));
    for (const names of kinds) await api.made(crdPath('kubernetes'), definitionOf('kubernetes', names));
    await api.namespace('default-2');
    for (const { plural } of kinds) {
      const list = `/apis/shop.example.com/v1/${plural}`;
      await api.until(async () => (await api.get(list)).status === 200);
      for (const namespace of ['default', 'default-2'])
        await api.made(`/apis/shop.example.com/v1/namespaces/${namespace}/${plural}`, {
          apiVersion: 'shop.example.com/v1',
          kind: `K${plural}`,
          metadata: { name: `${plural}-${namespace}` },
        });
    }
    for (const { plural } of kinds) {
      expect(namesIn((await api.get(`/apis/shop.example.com/v1/${plural}`)).body).sort()).toEqual([
        `${plural}-default`,
        `${plural}-default-2`,
      ]);
      const one = await api.get(`/apis/shop.example.com/v1/namespaces/default/${plural}`);
      expect(namesIn(one.body)).toEqual([`${plural}-default`]);
    }
  });
});

test.each(NAMINGS)('a data directory of an earlier release is served under the %s naming', async naming => {
  const dataDir = await formerDirectory();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const api = await serve({ storage: 'rocksdb', dataDir, naming, historyRetention: 3_600_000 });
  const orders = '/apis/tea.example.com/v1/namespaces/default/orders';
  await api.until(async () => (await api.get(orders)).status === 200);
  const { items } = (await api.get(orders)).body as unknown as { items: { metadata: Record<string, string> }[] };
  expect(items.map(({ metadata }) => [metadata['name'], metadata['resourceVersion']])).toEqual([
    ['first', '226'],
    ['second', '224'],
  ]);
  const watch = await api.watch(`${orders}?watch=true&resourceVersion=225`);
  const events = [await watch.next(), await watch.next()];
  watch.close();
  expect(events.map(({ type, object }) => [type, object['metadata']!['name']])).toEqual([
    ['MODIFIED', 'first'],
    ['DELETED', 'gone'],
  ]);
  await api.until(async () => (await api.get('/api/v1/namespaces/default/configmaps/owned')).status === 200);
  const shared = 'validatingadmissionpolicies.admissionregistration.orchestrator.io';
  await addObjects(api, naming);
  await api.delete(`${crdPath(naming)}/${shared}`);
  await api.until(async () => (await api.get(`${crdPath(naming)}/${shared}`)).status === 404);
  const policies = namingOf(naming).apiVersion('admissionregistration.orchestrator.io/v1');
  expect(namesIn((await api.get(`/apis/${policies}/validatingadmissionpolicies`)).body)).toEqual(['all']);
  // The garbage collector finds the owner under its new key, and notices its deletion.
  await api.delete(`${orders}/second`);
  await api.until(async () => (await api.get('/api/v1/namespaces/default/configmaps/owned')).status === 404);
});
