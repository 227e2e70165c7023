import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { storeCommand } from '../../core/command/store/store.js';
import { Api, listOf } from '../api/support.js';
import { Captured } from '../command/server.js';
import { MERGE } from '../support/mediaTypes.js';

/* StorageVersionMigrations, through a running server with their feature gate. */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MIGRATIONS = '/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations';

let api: Api;
beforeAll(async () => {
  api = await Api.start({
    featureGates: ['StorageVersionMigrator=true'],
    runtimeConfig: ['storagemigration.k8s.io/v1alpha1=true'],
  });
});
afterAll(() => api.close());

/** Creates a migration, waits until it has ended, and returns the types of its true conditions. */
async function migrate(name: string, resource: object): Promise<readonly string[]> {
  await api.made(MIGRATIONS, { metadata: { name }, spec: { resource } });
  let types: readonly string[] = [];
  await api.until(async () => {
    const { body } = await api.get(`${MIGRATIONS}/${name}`);
    const conditions = (body['status']!['conditions'] ?? []) as unknown as { type: string; status: string }[];
    types = conditions.filter(one => one.status === 'True').map(one => one.type);
    return types.some(type => type !== 'Running');
  });
  return types;
}

/** Defines a kind of a group in the versions v1, which is stored, and v2, and waits until it is served. */
async function defineThings(group: string) {
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/things`;
  const versions = (stored: string): object[] =>
    ['v1', 'v2'].map(name => ({
      name,
      served: true,
      storage: name === stored,
      schema: { openAPIV3Schema: { type: 'object' } },
    }));
  await api.made(CRDS, {
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: versions('v1') },
  });
  await api.until(async () => (await api.get(path('v1'))).status === 200);
  return { group, path, versions };
}

test('a migration stores the objects of a custom kind in the new storage version', async () => {
  const { group, path, versions } = await defineThings('migrated.example.com');
  for (const name of ['a', 'b', 'c'])
    await api.made(path('v1'), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name } });
  await api.patch(`${CRDS}/things.${group}`, MERGE, { spec: { versions: versions('v2') } });
  const revisions = async (): Promise<readonly string[]> => {
    const items = listOf((await api.get(path('v2'))).body['items']);
    return items.map(one => String(one['metadata']!['resourceVersion']));
  };
  const before = await revisions();
  expect(await migrate('things', { group, version: 'v2', resource: 'things' })).toEqual(['Succeeded']);
  const after = await revisions();
  expect(after.every((revision, i) => revision !== before[i])).toBe(true);
  // An object that is already stored in the version is not written again.
  expect(await migrate('again', { group, version: 'v2', resource: 'things' })).toEqual(['Succeeded']);
  expect(await revisions()).toEqual(after);
  const stored = await api.patch(`${CRDS}/things.${group}/status`, MERGE, { status: { storedVersions: ['v2'] } });
  expect(stored.status).toBe(200);
});

test('capstan store migrate migrates all objects of a running server, and removes old versions from the status of the definition', async () => {
  const { group, path, versions } = await defineThings('moved.example.com');
  const definition = `${CRDS}/things.${group}`;
  for (const name of ['a', 'b'])
    await api.made(path('v1'), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name } });
  await api.patch(definition, MERGE, { spec: { versions: versions('v2') } });
  const folder = mkdtempSync(join(tmpdir(), 'capstan-migrate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, api.server.kubeconfig);
  const run = async (...kinds: readonly string[]): Promise<readonly string[]> => {
    const io = new Captured();
    expect(await storeCommand(['migrate', ...kinds, `--kubeconfig=${kubeconfig}`], io)).toBe(0);
    return io.lines;
  };
  expect(await run(`things.${group}`)).toEqual([
    `things.${group}: 2 of 2 migrated`,
    `things.${group}: no object is stored in v1 any more`,
    '2 of 2 objects had to be migrated',
  ]);
  expect((await api.get(definition)).body['status']!['storedVersions']).toEqual(['v2']);
  expect((await run()).at(-1)).toMatch(/^0 of \d+ objects had to be migrated$/);
  await expect(run('thongs')).rejects.toThrow('the server has no kind thongs');
});

test('a migration of a resource that is not served fails', async () => {
  expect(await migrate('nothing', { group: 'nowhere.example.com', version: 'v1', resource: 'x' })).toEqual(['Failed']);
});

test('the resource of a migration is required and may not change', async () => {
  const { body } = await api.post(MIGRATIONS, { metadata: { name: 'empty' }, spec: {} });
  expect(body['message']).toContain('spec.resource.resource: Required value: resource is required');
  await migrate('fixed', { version: 'v1', resource: 'configmaps' });
  const changed = await api.patch(`${MIGRATIONS}/fixed`, MERGE, { spec: { resource: { resource: 'secrets' } } });
  expect([changed.status, changed.body['message']]).toEqual([
    422,
    'StorageVersionMigration.storagemigration.k8s.io "fixed" is invalid: resource: Invalid value: "secrets": ' +
      'field is immutable',
  ]);
});
