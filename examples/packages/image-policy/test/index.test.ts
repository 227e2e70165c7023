import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mutator, validator } from 'capstan/api';
import {
  change,
  fakeHost,
  mutatorConformance,
  partsOf,
  startTestServer,
  target,
  validatorConformance,
} from 'capstan/testing';
import plugin from '../src/index.js';

const config = { mirrors: { 'docker.io/': 'mirror.example.com/' }, allowed: ['mirror.example.com/'] };
const { host } = fakeHost('pool');
const pod = (...images: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: images.map((image, i) => ({ name: `c${i}`, image })) },
});
const creation = change({ kind: 'Pod', target: target({ verb: 'create', resource: 'pods' }) });

const drafts = [{ change: creation, draft: pod('docker.io/a:1', 'b:1'), after: pod('mirror.example.com/a:1', 'b:1') }];
for (const { name, run } of mutatorConformance({
  make: async () => (await partsOf(plugin, config, mutator, host))[0]!,
  drafts,
}))
  test(`mutator: ${name}`, run);

const image = 'spec.containers[0].image';
const objects = [
  { change: creation, after: pod('mirror.example.com/a:1', 'mirror.example.com/a@sha256:0'), fields: [] },
  { change: creation, after: pod('mirror.example.com/a'), fields: [image] },
  { change: creation, after: pod('example.org:5000/a'), fields: [image, image] },
];
for (const { name, run } of validatorConformance({
  make: async () => (await partsOf(plugin, config, validator, host))[0]!,
  objects,
}))
  test(`validator: ${name}`, run);

test('refuses invalid settings with the path of the field', () => {
  assert.throws(() => plugin.parse({ allowed: [1] }), /^ConfigError: allowed\[0\]: /);
  assert.throws(() => plugin.parse({ ...config, other: 1 }), /^ConfigError: config: .*"other"/);
});

test('changes and checks pods in a server', async () => {
  const use = fileURLToPath(new URL('../src/index.js', import.meta.url));
  const server = await startTestServer({ plugins: [{ use, config }] });
  try {
    const create = (body: object) => server.request('POST', '/api/v1/namespaces/default/pods', { body });
    const created = await create(pod('docker.io/nginx:1.25'));
    assert.deepEqual([created.status, created.body.spec?.containers[0].image], [201, 'mirror.example.com/nginx:1.25']);
    const refused = await create(pod('nginx'));
    assert.deepEqual([refused.status, refused.body.details.causes.length], [422, 2]);
  } finally {
    await server.close();
  }
});
