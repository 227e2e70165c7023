import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const CERTIFICATES = 'certificates.k8s.io';
const REQUESTS = `/apis/${CERTIFICATES}/v1/certificatesigningrequests`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const directory = mkdtempSync(join(tmpdir(), 'capstan-signers-'));
let api: Api;

beforeAll(async () => {
  writeFileSync(join(directory, 'tokens.csv'), 'bob,bob,1\n');
  api = await Api.start({ tokenAuthFile: join(directory, 'tokens.csv') });
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function grant(name: string, resources: string[], verbs: string[], resourceNames?: string[]): Promise<void> {
  const rules = [{ apiGroups: [CERTIFICATES], resources, verbs, ...(resourceNames ? { resourceNames } : {}) }];
  await api.made(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  await api.made(`${RBAC}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  });
}

async function makeRequest(name: string): Promise<void> {
  const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(alg, true, ['sign', 'verify']);
  const made = await Pkcs10CertificateRequestGenerator.create({ name: 'CN=dave', keys, signingAlgorithm: alg });
  const request = Buffer.from(made.toString('pem')).toString('base64');
  const spec = { request, signerName: `example.test/${name}`, usages: ['client auth'] };
  await api.made(REQUESTS, { metadata: { name }, spec });
}

const write = (name: string, subresource: string, change: object) =>
  api.patch(`${REQUESTS}/${name}/${subresource}`, MERGE, change, { token: 'bob' });
const decision = (type: string) => ({ status: { conditions: [{ type, status: 'True', reason: 'Tested' }] } });

test('decisions need the verb approve on the signer, and certificates the verb sign', async () => {
  await grant('writer', ['certificatesigningrequests/approval', 'certificatesigningrequests/status'], ['patch']);
  for (const name of ['one', 'two']) await makeRequest(name);
  const refused = await write('one', 'approval', decision('Approved'));
  expect([refused.status, refused.body.message]).toEqual([
    403,
    `certificatesigningrequests.${CERTIFICATES} "one" is forbidden: user not permitted to approve requests with signerName "example.test/one"`,
  ]);
  expect((await write('one', 'status', decision('Failed'))).status).toBe(403);
  expect((await write('one', 'status', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  await grant('one', ['signers'], ['approve', 'sign'], ['example.test/one']);
  expect((await write('two', 'approval', decision('Approved'))).status).toBe(403);
  expect((await write('one', 'approval', decision('Approved'))).status).toBe(200);
  await grant('domain', ['signers'], ['approve'], ['example.test/*']);
  expect((await write('two', 'approval', decision('Denied'))).status).toBe(200);
  const failed = [{ op: 'add', path: '/status/conditions/-', value: decision('Failed').status.conditions[0] }];
  const fail = (name: string) =>
    api.patch(`${REQUESTS}/${name}/status`, 'application/json-patch+json', failed, { token: 'bob' });
  expect([(await fail('one')).status, (await fail('two')).status]).toEqual([200, 403]);
});
