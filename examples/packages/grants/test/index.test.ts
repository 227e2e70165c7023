import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { authorizer } from 'capstan/api';
import { authorizerConformance, fakeHost, partsOf, startTestServer, target, user } from 'capstan/testing';
import plugin from '../src/index.js';

const grant = (labels: Record<string, string> = { 'access.example.com/grant': 'true' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'readers', namespace: 'default', labels },
  data: { users: 'ann, bob', verbs: 'get,list' },
});

async function makeWith(object: ReturnType<typeof grant>) {
  const fake = fakeHost('pool');
  fake.put('core/configmaps', object);
  return (await partsOf(plugin, undefined, authorizer, fake.host))[0]!;
}

const pods = (verb: 'list' | 'delete', namespace = 'default') => target({ verb, resource: 'pods', namespace });
const decisions = [
  { user: user('ann'), target: pods('list'), is: 'allow' },
  { user: user('ann'), target: pods('delete'), is: 'noOpinion' },
  { user: user('ann'), target: pods('list', 'other'), is: 'noOpinion' },
  { user: user('ann'), target: target({ verb: 'list', resource: 'secrets' }), is: 'noOpinion' },
  { user: user('eve'), target: pods('list'), is: 'noOpinion' },
] as const;

for (const { name, run } of authorizerConformance({ make: () => makeWith(grant()), decisions })) test(name, run);

test('ConfigMaps without the label grant nothing', async () => {
  const part = await makeWith(grant({}));
  assert.equal((await part.authorize(user('ann'), pods('list'))).is, 'noOpinion');
});

test('in a server, a grant and its deletion are effective for the next request', async () => {
  const use = fileURLToPath(new URL('../src/index.js', import.meta.url));
  const server = await startTestServer({ plugins: [{ use }] });
  try {
    const maps = '/api/v1/namespaces/default/configmaps';
    const list = async () =>
      (await server.request('GET', '/api/v1/namespaces/default/pods', { headers: { 'impersonate-user': 'ann' } }))
        .status;
    assert.equal(await list(), 403);
    assert.equal((await server.request('POST', maps, { body: grant() })).status, 201);
    assert.equal(await list(), 200);
    await server.request('DELETE', `${maps}/readers`);
    assert.equal(await list(), 403);
  } finally {
    await server.close();
  }
});
