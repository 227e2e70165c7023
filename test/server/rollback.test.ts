import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encoder } from 'cbor-x';
import { afterAll, expect, test } from 'vitest';
import { Api, openWidgets } from '../api/support.js';

/* One data directory under two releases and two sets of feature gates, one after the other. */

const CBOR = 'application/cbor';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CLASSES = '/apis/storage.k8s.io/v1beta1/volumeattributesclasses';
const CANDIDATES = '/apis/coordination.k8s.io/v1alpha2/namespaces/default/leasecandidates';
const WIDGETS = '/apis/rollback.example.com/v1/namespaces/default/widgets';
const MAPS = '/api/v1/namespaces/default/configmaps';

const dataDir = mkdtempSync(join(tmpdir(), 'capstan-rollback-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const encoder = new Encoder({ useRecords: false, variableMapSize: true });

const metadata = { name: 'a' };
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { tea: 'green' } };
const widget = { apiVersion: 'rollback.example.com/v1', kind: 'Widget', metadata, cups: 2 ** 40, heat: 1.5 };

test('objects that were written under other gates and a newer release remain readable after a rollback [R254] [R324] [R388] [R560]', async () => {
  const common = { dataDir, storage: 'rocksdb', runtimeConfig: ['api/all=true'] } as const;
  const newer = await Api.start({
    ...common,
    featureGates: ['CBORServingAndStorage=true'],
    shutdownDelayDuration: 1000,
  });
  await newer.made(CRDS, openWidgets('rollback.example.com'));
  await newer.until(async () => (await newer.get(WIDGETS)).status === 200);
  const write = (path: string, object: object) =>
    newer.post(path, encoder.encode(object), { type: CBOR, accept: CBOR });
  expect([(await write(MAPS, map)).status, (await write(WIDGETS, widget)).status]).toEqual([201, 201]);
  await newer.made(CLASSES, { metadata, driverName: 'd', parameters: { speed: 'high' } });
  expect((await newer.get(CANDIDATES)).status).toBe(200);
  await newer.made(MAPS, { ...map, metadata: { name: 'large' }, data: { tea: 'x'.repeat(200_000) } });
  const gzipped = { headers: { 'accept-encoding': 'gzip' } };
  expect((await newer.get(`${MAPS}/large`, gzipped)).headers['content-encoding']).toBe('gzip');
  const closing = newer.server.close();
  // While it drains, it reports that it is not ready, and still serves.
  await newer.until(async () => (await newer.get('/readyz')).status === 500);
  expect((await newer.get(`${MAPS}/a`)).status).toBe(200);
  await closing;
  await newer.close();

  const older = await Api.start({
    ...common,
    emulatedVersion: ['1.31'],
    featureGates: ['APIResponseCompression=false'],
  });
  try {
    expect((await older.get(`${MAPS}/a`)).body).toMatchObject(map);
    expect((await older.get(`${WIDGETS}/a`)).body).toMatchObject(widget);
    expect((await older.get(`${CLASSES}/a`)).body).toMatchObject({ driverName: 'd', parameters: { speed: 'high' } });
    expect((await older.get(`${MAPS}/a`, { accept: CBOR })).status).toBe(406);
    const large = await older.get(`${MAPS}/large`, gzipped);
    expect([large.status, large.headers['content-encoding']]).toEqual([200, undefined]);
    // A kind that the older release does not have.
    expect((await older.get(CANDIDATES)).status).toBe(404);
    for (const format of ['json', 'merge', 'strategic-merge'])
      expect((await older.patch(`${MAPS}/a`, `application/${format}-patch+cbor`, encoder.encode({}))).status).toBe(415);
  } finally {
    await older.close();
  }
});
