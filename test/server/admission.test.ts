import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, deployment, pod } from '../api/support.js';
import type { Call } from './fixtures/admission.js';
import { MERGE } from '../support/mediaTypes.js';

describe('mutators and validators of a running server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-admission-'));
  const file = join(directory, 'calls');
  let api: Api;
  let maps: string;
  beforeAll(async () => {
    const use = pathToFileURL(resolve('dist/test/server/fixtures/admission.js')).href;
    api = await Api.start({ plugins: [{ use, config: { file } }] });
    maps = `${await api.namespace('asked')}/configmaps`;
  });
  afterAll(async () => {
    await api.close();
    rmSync(directory, { recursive: true });
  });

  /**
   * Sends a request and expects this status. Returns the admission calls of the request as `point operation path
   * (given)`.
   */
  async function admissionCalls(expected: number, request: () => Promise<Answer>): Promise<string[]> {
    writeFileSync(file, '');
    const { status, text } = await request();
    expect(status, text).toBe(expected);
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Call)
      .map(
        ({ point, operation, path, dryRun, given }) =>
          `${point} ${operation} ${path} (${given.join(', ')})${dryRun ? ' dry run' : ''}`,
      );
  }

  const both = (operation: string, path: string): string[] =>
    operation === 'CREATE'
      ? [`mutate CREATE ${path} (object)`, `validate CREATE ${path} (object)`]
      : [`mutate UPDATE ${path} (object, old)`, `validate UPDATE ${path} (object, old)`];

  describe('are called for', () => {
    const APPLY = 'application/apply-patch+yaml';
    const map = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

    test('creates, including those by apply and update', async () => {
      expect(await admissionCalls(201, () => api.post(maps, map('a')))).toEqual(both('CREATE', 'configmaps/a'));
      expect(await admissionCalls(201, () => api.patch(`${maps}/b?fieldManager=m`, APPLY, map('b')))).toEqual(
        both('CREATE', 'configmaps/b'),
      );
      const lease = '/apis/coordination.k8s.io/v1/namespaces/asked/leases/c';
      expect(await admissionCalls(201, () => api.put(lease, { metadata: { name: 'c' }, spec: {} }))).toEqual(
        both('CREATE', 'leases/c'),
      );
    });

    test('updates, patches and applies, and dry runs of them', async () => {
      await api.made(maps, map('changed'));
      const path = `${maps}/changed`;
      const expected = both('UPDATE', 'configmaps/changed');
      for (const query of ['?fieldManager=m', '?fieldManager=m&dryRun=All'])
        for (const request of [
          () => api.put(path + query, { ...map('changed'), data: { by: `put${query}` } }),
          () => api.patch(path + query, MERGE, { data: { by: `merge${query}` } }),
          () => api.patch(path + query, APPLY, { ...map('changed'), data: { applied: query } }),
        ]) {
          const dryRun = query.includes('dryRun') ? ' dry run' : '';
          expect(await admissionCalls(200, request)).toEqual(expected.map(call => call + dryRun));
        }
    });

    test('the status of an object', async () => {
      const deployments = '/apis/apps/v1/namespaces/asked/deployments';
      await api.made(deployments, deployment('reported'));
      const path = `${deployments}/reported/status`;
      const { body } = await api.get(path);
      const status = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'reported' } };
      for (const request of [
        () => api.put(path, { ...body, status: { replicas: 1 } }),
        () => api.patch(path, MERGE, { status: { replicas: 2 } }),
        () => api.patch(`${path}?fieldManager=m&force=1`, APPLY, { ...status, status: { replicas: 3 } }),
      ]) {
        expect(await admissionCalls(200, request)).toEqual(both('UPDATE', 'deployments/reported/status'));
      }
    });

    test('the scale of an object, with the whole object', async () => {
      const deployments = '/apis/apps/v1/namespaces/asked/deployments';
      await api.made(deployments, deployment('scaled'));
      const path = `${deployments}/scaled/scale`;
      const scale = (replicas: number): object => ({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'scaled' },
        spec: { replicas },
      });
      for (const request of [
        () => api.put(path, scale(2)),
        () => api.patch(path, MERGE, { spec: { replicas: 3 } }),
        () => api.patch(`${path}?fieldManager=m&force=1`, APPLY, scale(4)),
      ]) {
        expect(await admissionCalls(200, request)).toEqual(both('UPDATE', 'deployments/scaled/scale'));
      }
    });

    test('other subresources', async () => {
      const { body } = await api.get('/api/v1/namespaces/asked');
      expect(await admissionCalls(200, () => api.put('/api/v1/namespaces/asked/finalize', body))).toEqual(
        both('UPDATE', 'namespaces/asked/finalize'),
      );
    });

    test('bindings: mutators with the binding, validators with the bound pod', async () => {
      const core = '/api/v1/namespaces/asked';
      await api.until(async () => (await api.get(`${core}/serviceaccounts/default`)).status === 200);
      const binding = (name: string): object => ({ metadata: { name }, target: { kind: 'Node', name: 'n' } });
      for (const name of ['direct', 'indirect']) await api.made(`${core}/pods`, pod(name));
      expect(await admissionCalls(201, () => api.post(`${core}/pods/direct/binding`, binding('direct')))).toEqual([
        'mutate CREATE pods/direct/binding (object)',
        'validate CREATE pods/direct/binding (object, old)',
      ]);
      expect(await admissionCalls(201, () => api.post(`${core}/bindings`, binding('indirect')))).toEqual([
        'mutate CREATE bindings/indirect (object)',
        'validate CREATE pods/indirect/binding (object, old)',
      ]);
    });

    test('deletes (only validators), including each object of a collection', async () => {
      const labels = { of: 'removed' };
      for (const name of ['x', 'y']) await api.made(maps, { metadata: { name, labels } });
      expect(await admissionCalls(200, () => api.delete(`${maps}/x?dryRun=All`))).toEqual([
        'validate DELETE configmaps/x (old) dry run',
      ]);
      expect((await admissionCalls(200, () => api.delete(`${maps}?labelSelector=of%3Dremoved`))).sort()).toEqual([
        'validate DELETE configmaps/x (old)',
        'validate DELETE configmaps/y (old)',
      ]);
    });

    test('the update that completes a deletion', async () => {
      await api.made(maps, { metadata: { name: 'ending', finalizers: ['example.com/x'] } });
      expect((await api.delete(`${maps}/ending`)).status).toBe(200);
      expect(
        await admissionCalls(200, () => api.patch(`${maps}/ending`, MERGE, { metadata: { finalizers: null } })),
      ).toEqual(both('UPDATE', 'configmaps/ending'));
      expect((await api.get(`${maps}/ending`)).status).toBe(404);
    });
  });

  describe('a change of a mutator', () => {
    const deployments = '/apis/apps/v1/namespaces/asked/deployments';

    test('in an update gets the defaults of its kind', async () => {
      const object = await api.made(deployments, deployment('defaulted'));
      const { status, body } = await api.put(`${deployments}/defaulted`, {
        ...object,
        metadata: { ...object.metadata, labels: { make: 'container' } },
      });
      expect([status, body.spec!.template!.spec!.containers]).toMatchObject([
        200,
        [{ name: 'web' }, { name: 'added', terminationMessagePath: '/dev/termination-log', resources: {} }],
      ]);
      expect(body.metadata!.generation).toBe(2);
    });

    test('in a write of a scale with the same replicas is stored', async () => {
      await api.made(deployments, deployment('unscaled'));
      const scale = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'unscaled' },
        spec: { replicas: 1 },
      };
      expect((await api.put(`${deployments}/unscaled/scale`, scale)).status).toBe(200);
      const { metadata } = (await api.get(`${deployments}/unscaled`)).body;
      expect(metadata!.annotations!.mutated).toBe('UPDATE');
    });

    test('cannot move a new object to another namespace', async () => {
      const { status, body } = await api.post(maps, { metadata: { name: 'moved', labels: { make: 'elsewhere' } } });
      expect([status, body.message]).toEqual([
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ]);
      expect((await api.get('/api/v1/namespaces/default/configmaps/moved')).status).toBe(404);
    });

    test('may replace the metadata: the server restores its own fields afterwards', async () => {
      const sent = deployment('replaced') as { metadata: object };
      const created = await api.made(deployments, {
        ...sent,
        metadata: { name: 'replaced', labels: { make: 'fresh' } },
      });
      expect(created.metadata).toEqual({
        name: 'replaced',
        namespace: 'asked',
        uid: expect.any(String),
        resourceVersion: expect.any(String),
        generation: 1,
        creationTimestamp: expect.any(String),
      });
      const { status, body } = await api.put(`${deployments}/replaced`, {
        ...sent,
        metadata: { name: 'replaced', labels: { make: 'bare' } },
      });
      expect([status, body.metadata]).toEqual([
        200,
        { ...created.metadata, resourceVersion: body.metadata!.resourceVersion },
      ]);
    });
  });

  describe('a violation that a validator returns for a DELETE', () => {
    const kept = (name: string, refuse = 'DELETE'): object => ({ metadata: { name, labels: { refuse, of: name } } });
    const refusal = (name: string): object => ({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `ConfigMap ${JSON.stringify(name)} is invalid: metadata.labels: Forbidden: no DELETE of this object`,
      reason: 'Invalid',
      details: {
        name,
        kind: 'ConfigMap',
        causes: [
          { reason: 'FieldValueForbidden', message: 'Forbidden: no DELETE of this object', field: 'metadata.labels' },
        ],
      },
      code: 422,
    });

    test('refuses the delete, which does not change the object', async () => {
      const { metadata } = await api.made(maps, kept('one'));
      const { status, body } = await api.delete(`${maps}/one`);
      expect([status, body]).toEqual([422, refusal('one')]);
      expect((await api.get(`${maps}/one`)).body.metadata).toEqual(metadata);
    });

    test('refuses a dry run, a delete with a policy, and one of an object that has finalizers', async () => {
      await api.made(maps, { metadata: { name: 'held', labels: { refuse: 'DELETE' }, finalizers: ['example.com/x'] } });
      for (const query of ['?dryRun=All', '?propagationPolicy=Foreground', '?gracePeriodSeconds=5'])
        expect((await api.delete(`${maps}/held${query}`)).status).toBe(422);
      expect((await api.get(`${maps}/held`)).body.metadata!.deletionTimestamp).toBeUndefined();
    });

    test('refuses a delete with a grace period before the pod is marked', async () => {
      await api.until(async () => (await api.get('/api/v1/namespaces/asked/serviceaccounts/default')).status === 200);
      const pods = '/api/v1/namespaces/asked/pods';
      const spec = { containers: [{ name: 'c', image: 'i' }] };
      await api.made(pods, { ...kept('p'), spec });
      for (const query of ['', '?gracePeriodSeconds=0'])
        expect((await api.delete(`${pods}/p${query}`)).status).toBe(422);
      expect((await api.get(`${pods}/p`)).body.metadata!.deletionTimestamp).toBeUndefined();
    });

    test('ends a deletecollection with its refusal and keeps that object', async () => {
      await api.made(maps, kept('many'));
      await api.made(maps, { metadata: { name: 'other', labels: { of: 'many' } } });
      const { status, body } = await api.delete(`${maps}?labelSelector=of%3Dmany`);
      expect([status, body]).toEqual([422, refusal('many')]);
      expect((await api.get(`${maps}/many`)).status).toBe(200);
    });
  });
});
