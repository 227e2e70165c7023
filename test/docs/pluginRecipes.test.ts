import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { blocksOf, Programs, typeErrors } from './code.js';

/* The plugins of docs/guides/recipes.md, all in one server. */

const NAMES = ['owners', 'prices', 'defaults', 'limits', 'signed', 'refusals'];
const blocks = blocksOf('recipes', 'ts');
const programs = new Programs();
const folder = mkdtempSync(join(tmpdir(), 'capstan-recipes-'));
const refusals = join(folder, 'refusals.log');
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const asked: string[] = [];
const owners = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.writeHead(request.url === '/ann' ? 200 : 404).end();
});
let server: RunningServer;

beforeAll(async () => {
  owners.listen(0, '127.0.0.1');
  await once(owners, 'listening');
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
  const config = [
    { url: `http://127.0.0.1:${(owners.address() as AddressInfo).port}` },
    undefined,
    undefined,
    { perSecond: 3 },
    { key: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
    { file: refusals },
  ];
  const plugins = NAMES.map((name, i) => ({ use: programs.write(name, blocks[i]!), config: config[i] }));
  server = await startServer({ storage: 'memory', port: 0, naming: 'kubernetes', plugins, auditPolicyFile: policy });
  await server.client.resource('namespaces').create({ metadata: { name: 'plain' } });
  const labels = { 'example.com/team': 'tea', 'example.com/tier': 'gold' };
  await server.client.resource('namespaces').create({ metadata: { name: 'shop', labels } });
});
afterAll(async () => {
  await server?.close();
  owners.close();
  programs.remove();
  rmSync(folder, { recursive: true });
});

const map = (namespace: string, metadata: object) => ({ metadata: { namespace, generateName: 'map-', ...metadata } });
const create = async (namespace: string, metadata: object) =>
  await server.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, { body: map(namespace, metadata) });

test('the page has one module for each recipe, and they compile', () => {
  expect(blocks.length).toBe(NAMES.length);
  const files = new Map(NAMES.map((name, i) => [`${name}.ts`, blocks[i]!]));
  expect(typeErrors(files, programs.directory)).toEqual([]);
});

test('the service is called once per thread for an owner, and unknown owners are refused', async () => {
  const annotations = (owner: string) => ({ annotations: { 'example.com/owner': owner } });
  expect((await create('plain', annotations('bob'))).status).toBe(422);
  for (let i = 0; i < 10; i++) expect((await create('plain', annotations('ann'))).status).toBe(201);
  expect(asked.filter(path => path === '/ann').length).toBeLessThan(10);
});

test('prices can be created only in namespaces with a team', async () => {
  const labels = { labels: { 'example.com/price': '3' } };
  expect((await create('plain', labels)).status).toBe(422);
  expect((await create('shop', labels)).status).toBe(201);
});

test('ConfigMaps get the tier of their namespace, unless they have one', async () => {
  expect((await create('shop', {})).body).toMatchObject({ metadata: { labels: { 'example.com/tier': 'gold' } } });
  const own = await create('shop', { labels: { 'example.com/tier': 'tin' } });
  expect(own.body).toMatchObject({ metadata: { labels: { 'example.com/tier': 'tin' } } });
});

test('a user who writes too often gets 429, the administrator does not', async () => {
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] };
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await server.request('POST', `${roles}/clusterroles`, { body: { metadata: { name: 'writer' }, rules: [rule] } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }];
  const binding = { metadata: { name: 'writer' }, roleRef, subjects };
  await server.request('POST', `${roles}/clusterrolebindings`, { body: binding });
  const alice = server.as('alice', []);
  const path = '/api/v1/namespaces/plain/configmaps';
  // Eight concurrent writes fall into at most two seconds, each of which allows three.
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => alice.request('POST', path, { body: map('plain', {}) })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 429]));
});

test('images must have a signed digest', async () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const signature = sign(null, Buffer.from(digest), privateKey).toString('base64');
  const pod = (image: string, signatures: object) => ({
    metadata: { generateName: 'pod-', annotations: { 'example.com/signatures': JSON.stringify(signatures) } },
    spec: { containers: [{ name: 'main', image }] },
  });
  const post = async (body: object) => (await server.request('POST', '/api/v1/namespaces/plain/pods', { body })).status;
  await eventually(
    async () => (await server.request('GET', '/api/v1/namespaces/plain/serviceaccounts/default')).status,
    status => status === 200,
  );
  expect(await post(pod(`app@${digest}`, { [digest]: signature }))).toBe(201);
  expect(await post(pod(`app@${digest}`, { [digest]: Buffer.alloc(64).toString('base64') }))).toBe(422);
  expect(await post(pod(`app@${digest}`, {}))).toBe(422);
  expect(await post(pod('app:latest', { [digest]: signature }))).toBe(422);
});

test('refusals are recorded in the file', async () => {
  await server.request('GET', '/api/v1/namespaces/plain/configmaps/none');
  const line = await eventually(() =>
    readFileSync(refusals, 'utf8')
      .split('\n')
      .find(one => one.includes('/none')),
  );
  expect(line).toMatch(/^\S+ 404 \S+ get \/api\/v1\/namespaces\/plain\/configmaps\/none$/);
});
