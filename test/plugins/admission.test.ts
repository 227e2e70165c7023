import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment } from '../api/support.js';
import { fixture } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

/* Sentences of docs/guides/plugins.md about mutators, validators and points of plugins. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-admission-'));
const file = (name: string): string => join(directory, name);
const MAPS = '/api/v1/namespaces/default/configmaps';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const maps = { groups: [''], resources: ['configmaps'] };
const use = (name: string, config: object) => ({ use: fixture('admission', name), config });

interface Seen {
  readonly operation: string;
  readonly old?: { readonly metadata: { readonly name: string; readonly generation: number } };
  readonly after?: { readonly metadata: object; readonly spec: object };
}
const seenIn = (name: string): Seen[] =>
  readFileSync(file(name), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Seen);

let api: Api;
beforeAll(async () => {
  api = await Api.start({
    plugins: [
      use('marks', { mark: 'a', on: maps, file: file('runs') }),
      use('marks', { mark: 'b', on: { ...maps, operations: ['CREATE', 'UPDATE'] } }),
      use('marks', { mark: 'c', on: { ...maps, operations: ['CREATE'] } }),
      use('marks', { mark: 'r', on: { groups: ['rbac.authorization.orchestrator.io'] } }),
      use('marks', { mark: 'x', on: { groups: ['rbac.authorization.k8s.io'] } }),
      use('marks', { mark: 'm', on: { resources: ['deployments'] }, file: file('main') }),
      use('marks', {
        mark: 's',
        on: { resources: ['deployments'], subresources: ['status', 'scale'] },
        file: file('sub'),
      }),
      use('scales', {
        mark: '',
        on: { resources: ['replicasets'], subresources: ['', 'status'] },
        file: file('scaled'),
      }),
      use('sees', { mark: 'first', on: { ...maps } }),
      use('sees', { mark: 'second', on: { ...maps } }),
      use('sees', { mark: 'claims', on: { resources: ['persistentvolumeclaims'] }, file: file('claims') }),
      use('sees', { mark: 'deployments', on: { resources: ['deployments'] }, file: file('deployments') }),
      use('sees', {
        mark: 'deployments',
        on: { resources: ['deployments'], subresources: ['scale'] },
        file: file('scale'),
      }),
      use('greeted', {}),
      use('greets', { mark: 'hello' }),
      use('greets', { mark: 'good day' }),
    ],
  });
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

const create = (name: string, labels: object = {}) => api.post(MAPS, { metadata: { name, labels }, data: { a: 'b' } });

describe('mutators', () => {
  test('change the same draft in the order of the configuration; `on` selects operations', async () => {
    const made = await create('ordered');
    expect(made.body['metadata']?.['annotations']).toMatchObject({ marks: 'abc' });
    const updated = await api.patch(`${MAPS}/ordered`, MERGE, { data: { a: 'c' } });
    expect(updated.body['metadata']?.['annotations']).toMatchObject({ marks: 'abcab' });
  });

  test('select groups by either of their names', async () => {
    const made = await api.made(RBAC, { metadata: { name: 'neutral' } });
    expect(made['metadata']?.['annotations']).toEqual({ marks: 'rx' });
  });

  test('without subresources are called only for the main resource', async () => {
    await api.made(DEPLOYMENTS, deployment('subs'));
    await api.patch(`${DEPLOYMENTS}/subs/scale`, MERGE, { spec: { replicas: 2 } });
    await api.patch(`${DEPLOYMENTS}/subs/status`, MERGE, { status: { replicas: 1 } });
    expect(new Set(readFileSync(file('main'), 'utf8').trim().split('\n'))).toEqual(new Set(['deployments/ false']));
    const subresources = new Set(readFileSync(file('sub'), 'utf8').trim().split('\n'));
    expect(subresources).toEqual(new Set(['deployments/scale false', 'deployments/status false']));
  });

  test('see the body as it was sent; the server then generates the name, and restores immutable members', async () => {
    const sets = '/apis/apps/v1/namespaces/default/replicasets';
    const lines = (): unknown[] =>
      readFileSync(file('scaled'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
    const { spec } = deployment('') as { spec: object };
    const made = await api.made(sets, { metadata: { generateName: 'made-' }, spec: { ...spec, replicas: 2 } });
    const name = String(made['metadata']?.['name']);
    expect([name.slice(0, 5), made['spec']?.['replicas']]).toEqual(['made-', 9]);
    const body = { ...made, spec: { ...spec, replicas: 3 }, status: { replicas: 4 } };
    const { status, body: written } = await api.call('PUT', `${sets}/${name}/status`, { body });
    expect([status, written['spec']?.['replicas'], written['status']?.['replicas']]).toEqual([200, 9, 4]);
    await api.call('PUT', `${sets}/${name}/status`, { body: { ...body, metadata: { name }, spec: { replicas: 1 } } });
    expect((await api.get(`${sets}/${name}`)).body['spec']).toMatchObject({ replicas: 9, ...spec });
    expect(lines()).toEqual([
      ['', '', 2],
      [name, name, 3],
      [name, name, 1],
    ]);
  });

  test('see in dryRun that nothing will be stored', async () => {
    expect((await api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'dry' } })).status).toBe(201);
    expect(readFileSync(file('runs'), 'utf8').trim().split('\n').at(-1)).toBe('configmaps/ true');
    expect((await api.get(`${MAPS}/dry`)).status).toBe(404);
  });

  test('refuse with Refusal Forbidden', async () => {
    const answer = await create('refused', { forbidden: 'yes' });
    expect([answer.status, answer.body['message']]).toEqual([403, 'forbidden by a']);
  });

  test('run again for a request whose write conflicts; no change is lost', async () => {
    await create('raced');
    const runs = (): number => readFileSync(file('runs'), 'utf8').split('\n').length;
    const before = runs();
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    const answers = await Promise.all(keys.map(key => api.patch(`${MAPS}/raced`, MERGE, { data: { [key]: 'x' } })));
    // A write that conflicts too often is refused.
    const done = keys.filter((_, i) => answers[i]!.status === 200);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(Object.keys((await api.get(`${MAPS}/raced`)).body['data']!).sort()).toEqual(['a', ...done].sort());
    expect(runs() - before).toBeGreaterThan(keys.length);
  });
});

describe('validators', () => {
  test('are all called: every violation is in one answer, with the usual wording', async () => {
    const answer = await create('complaints', { complain: 'list' });
    expect(answer.status).toBe(422);
    const messages = (mark: string): string[] => [
      `Invalid value: "${mark}": must be good`,
      'Required value: why',
      'Forbidden: never',
      `Unsupported value: "${mark}": supported values: "x", "y"`,
    ];
    const { causes } = answer.body['details'] as unknown as { causes: { message: string }[] };
    expect(causes.map(({ message }) => message)).toEqual([...messages('first'), ...messages('second')]);
  });

  test('get the object as it will be stored: with defaults, changes of mutators, and its generation', async () => {
    const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
    const made = await api.made(CLAIMS, { metadata: { name: 'whole' }, ...claim });
    const { resourceVersion: _version, ...metadata } = made['metadata'] as { resourceVersion?: unknown };
    expect(seenIn('claims')).toEqual([{ operation: 'CREATE', after: { ...made, metadata } }]);

    await api.made(DEPLOYMENTS, deployment('generations'));
    const changed = await api.patch(`${DEPLOYMENTS}/generations`, MERGE, {
      spec: { paused: true },
    });
    await api.patch(`${DEPLOYMENTS}/generations/scale`, MERGE, { spec: { replicas: 3 } });
    const last = seenIn('deployments').at(-1)!;
    expect(last.after?.spec).toEqual(changed.body['spec']);
    expect(last.after?.metadata).toMatchObject({ generation: 2, annotations: { marks: 'mm' } });
    expect(last.old?.metadata.generation).toBe(1);
    expect(seenIn('scale').at(-1)?.after?.metadata).toMatchObject({ generation: 3 });
  });

  test.each(['change', 'deeply'])('get the object frozen: a validator that changes it fails (%s)', async how => {
    const answer = await create(`frozen-${how}`, { complain: how });
    expect([answer.status, answer.body['message']]).toEqual([
      500,
      'Internal error occurred: the plugin "test/sees" failed; see the log of the server',
    ]);
  });

  test('get the current object frozen as well', async () => {
    await create('frozen-old');
    const patch = { metadata: { labels: { complain: 'old' } } };
    const answer = await api.patch(`${MAPS}/frozen-old`, MERGE, patch);
    expect(answer.status).toBe(500);
  });

  test('get no object for DELETE, and in change.old the object to be deleted; violations refuse the request', async () => {
    const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
    await api
      .made(CLAIMS, { metadata: { name: 'kept', labels: { complain: 'list' } }, ...claim })
      .catch(() => undefined);
    const made = await api.made(CLAIMS, { metadata: { name: 'goes' }, ...claim });
    expect((await api.delete(`${CLAIMS}/goes`)).status).toBe(200);
    // A controller may already have updated the claim, whose finalizer it removes.
    const { operation, old, after } = seenIn('claims').findLast(seen => seen.operation === 'DELETE')!;
    expect([operation, after, old?.metadata.name]).toEqual(['DELETE', undefined, 'goes']);
    expect(old).toMatchObject({ spec: made['spec'] as unknown as object });
  });

  test('refuse immediately with Refusal Forbidden', async () => {
    const answer = await create('at-once', { complain: 'refuse' });
    expect([answer.status, answer.body['message']]).toEqual([403, 'refused by first']);
  });
});

test('extension points of plugins: other plugins contribute to them, and host.at returns the combined contributions', async () => {
  const made = await create('greeted');
  expect(made.body['metadata']?.['annotations']).toMatchObject({ greeting: 'hello and good day' });
});
