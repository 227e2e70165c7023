import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer, Settings } from '../../core/index.js';
import { startServer } from '../server/library.js';

const example = (name: string): string => resolve(`dist/examples/${name}.js`);
const RED = 'key-of-rita';
const agent = new Agent({ connect: { rejectUnauthorized: false } });

/** The members of answers that these tests use. */
interface Answer {
  readonly status: number;
  readonly body: {
    readonly metadata: { readonly name?: string; readonly labels?: object; readonly annotations?: object };
    readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
    readonly message?: string;
  };
}

let server: RunningServer;

async function call(
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const answer = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers: { ...headers, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
}

const admin = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
  call(method, path, { authorization: `Bearer ${server.token}` }, body);
const withKey = (key: string, method: 'GET' | 'POST', path: string, body?: object) =>
  call(method, path, { 'x-api-key': key }, body);
const namespace = (name: string, team?: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: team ? { team } : {} },
});
const configMap = (name: string, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
});

function deployment(name: string, ...images: readonly string[]) {
  const labels = { app: name };
  const containers = images.map((image, i) => ({ name: `c${i}`, image }));
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

beforeAll(async () => {
  const settings: Partial<Settings> = {
    storage: 'memory',
    port: 0,
    naming: 'kubernetes',
    plugins: [
      { use: example('apiKey'), config: { keys: [{ key: RED, user: 'rita', groups: ['team:red'] }] } },
      { use: pathToFileURL(example('teamNamespaces')).href },
      { use: example('defaultLabels'), config: { labels: { 'cost-center': '4711' }, resources: ['configmaps'] } },
      { use: example('imageRegistries'), config: { allowed: ['registry.example.com/'] } },
    ],
  };
  server = await startServer(settings);
  expect((await admin('POST', '/api/v1/namespaces', namespace('red', 'red'))).status).toBe(201);
  expect((await admin('POST', '/api/v1/namespaces', namespace('other'))).status).toBe(201);
});

afterAll(async () => {
  await server?.close();
  await agent.close();
});

describe('the example authenticator', () => {
  it('authenticates the user of a key, and refuses unknown keys', async () => {
    expect((await withKey(RED, 'GET', '/api/v1/namespaces/red/configmaps')).status).toBe(200);
    expect((await withKey('another-key', 'GET', '/api/v1/namespaces/red/configmaps')).status).toBe(401);
  });

  it('does not depend on a cached anonymous request', async () => {
    const path = '/api/v1/namespaces/red/configmaps';
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      statuses.push((await call('GET', path, {})).status, (await withKey(RED, 'GET', path)).status);
    }
    expect(statuses).toEqual([403, 200, 403, 200, 403, 200]);
  });

  it('determines the user name in refusals', async () => {
    const answer = await withKey(RED, 'GET', '/api/v1/nodes');
    expect(answer).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('User "rita" cannot list resource "nodes"') },
    });
  });
});

describe('the example authorizer', () => {
  it('allows a team the objects in its namespaces and nothing else', async () => {
    expect((await withKey(RED, 'POST', '/api/v1/namespaces/red/configmaps', configMap('mine'))).status).toBe(201);
    expect((await withKey(RED, 'POST', '/api/v1/namespaces/other/configmaps', configMap('theirs'))).status).toBe(403);
    expect((await withKey(RED, 'GET', '/api/v1/namespaces/red')).status).toBe(403);
  });

  it('decides according to a changed label from the next request', async () => {
    const list = '/api/v1/namespaces/moving/configmaps';
    expect((await admin('POST', '/api/v1/namespaces', namespace('moving'))).status).toBe(201);
    for (const team of ['red', 'blue', 'red', 'blue']) {
      expect((await admin('PUT', '/api/v1/namespaces/moving', namespace('moving', team))).status).toBe(200);
      expect((await withKey(RED, 'GET', list)).status).toBe(team === 'red' ? 200 : 403);
    }
  });
});

describe('the example mutator', () => {
  it('adds labels to new objects, keeps existing labels, and records the creator', async () => {
    const plain = await admin('POST', '/api/v1/namespaces/red/configmaps', configMap('plain'));
    expect(plain.body.metadata).toMatchObject({
      labels: { 'cost-center': '4711' },
      annotations: { 'example.com/created-by': 'kube-admin' },
    });
    const given = await admin('POST', '/api/v1/namespaces/red/configmaps', configMap('given', { 'cost-center': '1' }));
    expect(given.body.metadata.labels).toEqual({ 'cost-center': '1' });
    const stored = await admin('GET', '/api/v1/namespaces/red/configmaps/plain');
    expect(stored.body.metadata.labels).toEqual({ 'cost-center': '4711' });
  });

  it('does not change other resources', async () => {
    const made = await admin('POST', '/api/v1/namespaces/red/secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'plain' },
    });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body.metadata.labels).toBeUndefined();
  });
});

describe('the example validator', () => {
  const path = '/apis/apps/v1/namespaces/red/deployments';

  it('reports every invalid image in one answer', async () => {
    const answer = await admin(
      'POST',
      path,
      deployment('bad', 'docker.io/a:1', 'registry.example.com/b:1', 'docker.io/c:1'),
    );
    expect(answer.status).toBe(422);
    expect(answer.body.details?.causes?.map(cause => cause.field)).toEqual([
      'spec.template.spec.containers[0].image',
      'spec.template.spec.containers[2].image',
    ]);
  });

  it('validates updates too, and accepts valid objects', async () => {
    expect((await admin('POST', path, deployment('good', 'registry.example.com/b:1'))).status).toBe(201);
    expect((await admin('PUT', `${path}/good`, deployment('good', 'docker.io/b:1'))).status).toBe(422);
    expect((await admin('PUT', `${path}/good`, deployment('good', 'registry.example.com/b:2'))).status).toBe(200);
  });
});

describe('an invalid configuration of an example', () => {
  it('fails the start with the path of the field', async () => {
    const plugins = [{ use: example('imageRegistries'), config: {} }];
    await expect(startServer({ storage: 'memory', port: 0, plugins })).rejects.toThrow(
      'allowed: expected a list of image prefixes',
    );
  });
});
