import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, causesIn } from '../../api/support.js';
import { attribute, certificateOf, der, extension, KEYS, pem, requestOf, sequence, subject } from './der.js';
import { MERGE } from '../../support/mediaTypes.js';

const GROUP = 'certificates.k8s.io';
const BUNDLES = `/apis/${GROUP}/v1alpha1/clustertrustbundles`;
const REQUESTS = `/apis/${GROUP}/v1/certificatesigningrequests`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const directory = mkdtempSync(join(tmpdir(), 'capstan-bundles-'));
let api: Api;
beforeAll(async () => {
  writeFileSync(join(directory, 'tokens.csv'), 'bob,bob,1\n');
  api = await Api.start({
    tokenAuthFile: join(directory, 'tokens.csv'),
    featureGates: ['ClusterTrustBundle=true'],
    runtimeConfig: [`${GROUP}/v1alpha1/clustertrustbundles=true`],
  });
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

const NAME = subject(attribute('CN', 'ca'));
const basic = (...parts: Buffer[]) => extension('551d13', sequence(...parts), true);
const TRUE = der(0x01, Buffer.from([0xff]));
const certified = (name = NAME, ...extensions: Buffer[]) =>
  certificateOf({ subject: name, issuer: { name: NAME, key: KEYS.privateKey }, extensions });
const block = (bytes: Buffer) => pem(bytes, 'CERTIFICATE');
const CA = block(certified(NAME, basic(TRUE)));
const OTHER = block(certified(subject(attribute('CN', 'other')), basic(TRUE)));
const LEAF = block(certified());
const UNREADABLE = block(certified(subject(attribute('CN', 'ca', 'visible')), basic(TRUE)));

const bundle = (name: string, trustBundle: string, signerName?: string, token?: string) =>
  api.post(BUNDLES, { metadata: { name }, spec: { trustBundle, signerName } }, token ? { token } : {});
const errorsOf = async (...sent: Parameters<typeof bundle>) => {
  const { status, body } = await bundle(...sent);
  const causes = causesIn(body);
  return [status, ...causes.map(({ message }) => message.replace(/^Invalid value: "<value omitted>": /, ''))];
};

test('trust anchors are certificates of CAs without duplicates, with or without other text between them', async () => {
  expect(await errorsOf('good', `text\n${CA}text\n${OTHER}`)).toEqual([201]);
  expect(await errorsOf('bad', '')).toEqual([422, 'at least one trust anchor must be provided']);
  expect(await errorsOf('bad', ` ${CA}`)).toEqual([422, 'at least one trust anchor must be provided']);
  expect(await errorsOf('bad', CA + OTHER + CA)).toEqual([422, 'duplicate trust anchor (indices [0 2])']);
  const key = KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const headers = CA.replace('-----\n', '-----\nA: b\n\n');
  expect(await errorsOf('bad', key + LEAF + headers + UNREADABLE)).toEqual([
    422,
    'entry 0 has bad block type: PRIVATE KEY',
    'entry 1 does not have the CA bit set',
    'entry 2 has PEM block headers',
    'entry 3 does not parse as X.509',
  ]);
  expect(await errorsOf('bad', CA + ' '.repeat(1024 * 1024))).toEqual([
    422,
    expect.stringContaining('may not be more than 1048576 bytes'),
  ]);
});

test('the name of a bundle begins with its signer, and the signer cannot change', async () => {
  expect((await bundle('example.com:foo:a', CA, 'example.com/foo')).status).toBe(201);
  expect(await errorsOf('a', CA, 'example.com/foo')).toEqual([
    422,
    expect.stringContaining('with prefix example.com:foo:'),
  ]);
  expect(await errorsOf('a:b', CA)).toEqual([422, expect.stringContaining('without signer name')]);
  expect(await errorsOf('example.com:foo:-', CA, 'example.com/foo')).toEqual([
    422,
    expect.stringContaining('RFC 1123'),
  ]);
  const moved = await api.patch(`${BUNDLES}/example.com:foo:a`, MERGE, { spec: { signerName: 'example.com/bar' } });
  expect([moved.status, moved.body.message]).toEqual([422, expect.stringContaining('field is immutable')]);
});

test('writing a bundle of a signer needs the verb attest on the signer', async () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bundles' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }];
  const writes = { apiGroups: [GROUP], resources: ['clustertrustbundles'], verbs: ['*'] };
  const attests = { apiGroups: [GROUP], resources: ['signers'], verbs: ['attest'], resourceNames: ['example.com/*'] };
  await api.made(`${RBAC}/clusterroles`, { metadata: { name: 'bundles' }, rules: [writes] });
  await api.made(`${RBAC}/clusterrolebindings`, { metadata: { name: 'bundles' }, roleRef, subjects });
  expect((await bundle('of-nobody', CA, undefined, 'bob')).status).toBe(201);
  const refused = await bundle('example.com:foo:b', CA, 'example.com/foo', 'bob');
  expect([refused.status, refused.body.message]).toEqual([
    403,
    `clustertrustbundles.${GROUP} "example.com:foo:b" is forbidden: user not permitted to attest for signerName "example.com/foo"`,
  ]);
  await bundle('example.com:foo:c', CA, 'example.com/foo');
  const change = { spec: { trustBundle: OTHER } };
  const path = `${BUNDLES}/example.com:foo:c`;
  expect((await api.patch(path, MERGE, change, { token: 'bob' })).status).toBe(403);
  await api.patch(`${RBAC}/clusterroles/bundles`, MERGE, { rules: [writes, attests] });
  expect((await api.patch(path, MERGE, change, { token: 'bob' })).status).toBe(200);
});

test.each([
  ['text next to it', `text\n${LEAF}text\n`, 200],
  ['carriage returns', LEAF.replaceAll('\n', '\r\n'), 200],
  ['bytes after it in its block', block(Buffer.concat([certified(), Buffer.from([0])])), 422],
  ['another certificate in its block', block(Buffer.concat([certified(), certified()])), 422],
  ['a duplicate extension', block(certified(NAME, basic(), basic())), 422],
  ['a name that cannot be read', UNREADABLE, 422],
  ['text on the line of its end', `${LEAF.trimEnd()}text`, 422],
  ['other characters in its block', LEAF.replace('\n-----END', '\n*\n-----END'), 422],
  ['only carriage returns', LEAF.replaceAll('\n', '\r'), 422],
])('an issued certificate with %s', async (what, certificate, status) => {
  const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64');
  const name = `issued-${what.replaceAll(' ', '-')}`;
  const spec = {
    signerName: 'example.com/x',
    usages: ['client auth'],
    request: encoded(pem(requestOf({ subject: NAME }))),
  };
  await api.made(REQUESTS, { metadata: { name }, spec });
  const answer = await api.patch(`${REQUESTS}/${name}/status`, MERGE, {
    status: { certificate: encoded(certificate) },
  });
  expect(answer.status).toBe(status);
});
