import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePolicy } from '../../core/services/audit/policy.js';
import { Api, type Loose } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf } from '../support/values.js';

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - { level: None, users: [bob] }
  - { level: Metadata, verbs: [create, get, list], resources: [{ group: '', resources: [configmaps] }] }
  - { level: Metadata, verbs: [get, list, watch], resources: [{ group: '', resources: [secrets] }] }
  - { level: None, nonResourceURLs: ['/livez*'] }
  - { level: Metadata, nonResourceURLs: ['/version'] }
  - { level: Request, resources: [{ group: coordination.k8s.io }] }
  - { level: RequestResponse, omitManagedFields: true, resources: [{ group: '', resources: [endpoints] }] }
  - level: RequestResponse
    resources:
      - { group: authentication.k8s.io }
      - { group: '', resources: [serviceaccounts/token, secrets, services, limitranges, pods, pods/binding, pods/eviction] }
`;

let api: Api;
let directory: string;
const log = (): string => readFileSync(join(directory, 'audit.log'), 'utf8');
/** The events that are in the log so far. The last line may be incomplete. */
const events = (): Loose[] =>
  log()
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Loose);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'capstan-audit-'));
  writeFileSync(join(directory, 'policy.yaml'), POLICY);
  writeFileSync(join(directory, 'tokens.csv'), 'bob-token-0123,bob,1\ncarol-token-0123,carol,2\n');
  api = await Api.start({
    dataDir: join(directory, 'data'),
    auditLogPath: join(directory, 'audit.log'),
    auditPolicyFile: join(directory, 'policy.yaml'),
    tokenAuthFile: join(directory, 'tokens.csv'),
    enableBootstrapTokenAuth: true,
    verbosity: 2,
  });
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The event of the request with this address, once it is written. */
async function eventOf(uri: string): Promise<Loose> {
  let found: Loose | undefined;
  await api.until(async () => {
    found = events().findLast(event => (event.requestURI as unknown) === uri);
    return found !== undefined;
  });
  return found!;
}

/** The stage of the last event of a request. */
const stageOf = async (uri: string): Promise<string> => textOf((await eventOf(uri)).stage);

describe('the audit log', () => {
  test('has a line for each request that the policy selects, with sender, operation and outcome', async () => {
    const uri = '/api/v1/namespaces/default/configmaps/none?timeout=3s';
    for (const status of [404, 404]) expect((await api.get(uri)).status).toBe(status);
    const event = await eventOf(uri);
    expect(event).toMatchObject({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      stage: 'ResponseComplete',
      verb: 'get',
      user: { username: 'kube-admin', groups: ['system:masters', 'system:authenticated'] },
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'none', apiVersion: 'v1' },
      responseStatus: { code: 404 },
    });
    expect(event.annotations!['authorization.k8s.io/decision']).toBe('allow');
    await api.until(async () => events().filter(one => (one.requestURI as unknown) === uri).length === 2);
  });

  test('has the sender and the impersonated user of a request, or only the sender if the impersonation is refused', async () => {
    const uri = '/api/v1/namespaces/default/secrets';
    await api.get(`${uri}?limit=1`, { headers: { 'impersonate-user': 'erin' } });
    expect(await eventOf(`${uri}?limit=1`)).toMatchObject({
      user: { username: 'kube-admin' },
      impersonatedUser: { username: 'erin' },
      responseStatus: { code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    });
    const refused = { token: 'carol-token-0123', headers: { 'impersonate-user': 'erin' } };
    expect((await api.get(`${uri}?limit=2`, refused)).status).toBe(403);
    const event = await eventOf(`${uri}?limit=2`);
    expect(event).toMatchObject({ user: { username: 'carol' }, responseStatus: { code: 403 } });
    expect(event.impersonatedUser).toBeUndefined();
  });

  test('has the audit id that the client sends, or a new one if that is invalid, and the answer repeats it', async () => {
    const uri = '/api/v1/namespaces/default/configmaps?limit=31';
    const chosen = await api.get(uri, { headers: { 'audit-id': 'chosen-1' } });
    expect(chosen.headers['audit-id']).toBe('chosen-1');
    expect((await eventOf(uri)).auditID).toBe('chosen-1');
    for (const id of ['x'.repeat(200), 'a b']) {
      const other = await api.get(uri, { headers: { 'audit-id': id } });
      expect(other.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('has the addresses in headers of proxies, and that of the connection as the last one', async () => {
    const from = async (uri: string, headers: Record<string, string>) => {
      await api.get(uri, { headers });
      return (await eventOf(uri)).sourceIPs as unknown;
    };
    const uri = '/api/v1/namespaces/default/configmaps?limit=';
    expect(await from(`${uri}41`, {})).toEqual(['127.0.0.1']);
    const headers = { 'x-forwarded-for': '1.2.3.4, bogus,2001:db8::1', 'x-real-ip': '9.9.9.9' };
    expect(await from(`${uri}42`, headers)).toEqual(['1.2.3.4', '2001:db8::1', '9.9.9.9', '127.0.0.1']);
    expect(await from(`${uri}43`, { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' })).toEqual(['127.0.0.1']);
  });

  test('names the object of a list that selects it by its name', async () => {
    const uri = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Done';
    await api.get(uri);
    expect((await eventOf(uri)).objectRef).toMatchObject({ resource: 'configmaps', name: 'one' });
  });

  test('has one event for a request with invalid credentials, without an authorization decision', async () => {
    const uri = '/api/v1/namespaces/default/configmaps?limit=51';
    expect((await api.get(uri, { token: 'wrong-token-0123' })).status).toBe(401);
    expect(await eventOf(uri)).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { code: 401, reason: 'Unauthorized' },
    });
    await api.get('/version?after=51');
    await eventOf('/version?after=51');
    expect(events().filter(event => (event.requestURI as unknown) === uri)).toHaveLength(1);
  });

  test('has no authorization decision for a request whose impersonation is refused', async () => {
    const uri = '/api/v1/namespaces/default/configmaps?limit=61';
    const headers = { 'impersonate-user': 'erin' };
    expect((await api.get(uri, { token: 'carol-token-0123', headers })).status).toBe(403);
    const { annotations } = await eventOf(uri);
    expect(Object.keys(annotations ?? {}).filter(name => name.startsWith('authorization'))).toEqual([]);
  });

  test('has the start and the end of a watch that is refused', async () => {
    const uri = '/api/v1/namespaces/default/secrets?watch=1&limit=81';
    expect((await api.get(uri, { token: 'carol-token-0123' })).status).toBe(403);
    const stages = () =>
      events().flatMap(event => ((event.requestURI as unknown) === uri ? [event.stage as unknown] : []));
    await api.until(async () => stages().length === 2);
    expect(stages()).toEqual(['ResponseStarted', 'ResponseComplete']);
  });

  test('has a watch of one object as the get that it was authorized as', async () => {
    const uri = '/api/v1/namespaces/default/secrets/none?watch=1&timeoutSeconds=1';
    expect((await api.get(uri)).status).toBe(200);
    await api.until(async () => (await stageOf(uri)) === 'ResponseComplete');
    const found = events().filter(event => (event.requestURI as unknown) === uri);
    expect(found.map(({ verb, stage, objectRef }) => [verb, stage, objectRef?.['name']])).toEqual([
      ['get', 'ResponseStarted', 'none'],
      ['get', 'ResponseComplete', 'none'],
    ]);
  });

  test('has the end of a watch that the client ends', async () => {
    const uri = '/api/v1/namespaces/default/secrets?watch=1&limit=82';
    const end = new AbortController();
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    const { body } = await request(api.server.url + uri, {
      headers: { authorization: `Bearer ${api.server.token}` },
      signal: end.signal,
      dispatcher: agent,
    });
    body.on('error', () => undefined);
    expect(await stageOf(uri)).toBe('ResponseStarted');
    end.abort();
    await api.until(async () => (await stageOf(uri)) === 'ResponseComplete');
    await agent.destroy();
    expect(await eventOf(uri)).toMatchObject({ responseStatus: { code: 200 } });
  });

  test('has what the first matching rule selects, and nothing else', async () => {
    await api.get('/api/v1/namespaces/default/configmaps?limit=7', { token: 'bob-token-0123' });
    await api.get('/livez?verbose');
    await api.get('/api/v1/nodes');
    await api.get('/version');
    await eventOf('/version');
    const found = events().map(event => textOf(event.requestURI));
    expect(found.filter(uri => /limit=7|livez|nodes/.test(uri))).toEqual([]);
  });

  test('has bodies of requests and answers according to the level of the rule', async () => {
    const core = '/api/v1/namespaces/default';
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const spec = { holderIdentity: 'me' };
    await api.made(leases, { metadata: { name: 'a' }, spec });
    const made = await eventOf(leases);
    expect(made).toMatchObject({ level: 'Request', requestObject: { metadata: { name: 'a' }, spec } });
    expect(made.responseObject).toBeUndefined();
    await api.patch(`${leases}/a`, MERGE, { spec });
    expect(await eventOf(`${leases}/a`)).toMatchObject({ verb: 'patch', requestObject: { spec } });

    await api.made(`${core}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [{ type: 'Pod' }] } });
    const { responseObject } = await eventOf(`${core}/limitranges`);
    expect(responseObject).toMatchObject({ kind: 'LimitRange', metadata: { name: 'l', managedFields: [{}] } });
    await api.made(`${core}/endpoints`, { metadata: { name: 'e', managedFields: [] } });
    const { requestObject: sent, responseObject: stored } = await eventOf(`${core}/endpoints`);
    expect([sent, stored].map(one => (one as Loose).metadata)).toMatchObject([{ name: 'e' }, { name: 'e' }]);
    expect(JSON.stringify([sent, stored])).not.toContain('managedFields');

    await api.delete(`${core}/endpoints/none?a=1`);
    const missing = { responseObject: { kind: 'Status', code: 404 }, responseStatus: { code: 404 } };
    expect(await eventOf(`${core}/endpoints/none?a=1`)).toMatchObject(missing);
  });

  test('has objects as they were understood: with kind and defaults, and without unknown fields', async () => {
    const path = '/api/v1/namespaces/default/services';
    const body = { metadata: { name: 'understood' }, spec: { ports: [{ port: 1 }], nobodyKnowsThis: 1 } };
    const send = async (query: string) => {
      await api.post(`${path}?${query}`, body);
      return await eventOf(`${path}?${query}`);
    };
    const { requestObject, objectRef } = await send('fieldManager=understood');
    expect(requestObject).toMatchObject({
      ...{ kind: 'Service', apiVersion: 'v1' },
      spec: { ports: [{ port: 1, targetPort: 1, protocol: 'TCP' }], type: 'ClusterIP' },
    });
    expect(JSON.stringify(requestObject)).not.toContain('nobodyKnowsThis');
    expect(objectRef).toMatchObject({ name: 'understood' });
    const refused = await send('fieldValidation=Strict');
    expect(refused).toMatchObject({ responseStatus: { code: 400 } });
    expect(refused.requestObject).toBeUndefined();
    expect(refused.objectRef).not.toHaveProperty('name');
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
    await api.delete(`${path}/understood?audited`, options);
    const deleted = await eventOf(`${path}/understood?audited`);
    expect(deleted.requestObject).toMatchObject({ kind: 'DeleteOptions', gracePeriodSeconds: 0 });
  });

  test('names the object of a refused create, with the causes, if its sender has the permission to create it', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const refOf = async (query: string, metadata: object, token?: string) => {
      await api.post(`${path}?${query}`, { metadata }, token === undefined ? {} : { token });
      const { objectRef, responseStatus } = await eventOf(`${path}?${query}`);
      return { name: objectRef!['name'], message: responseStatus!['message'] };
    };
    expect(await refOf('dryRun=All', { name: 'named' })).toEqual({ name: 'named', message: undefined });
    expect(await refOf('dryRun=All&a', { generateName: 'made-' })).toEqual({ name: undefined, message: undefined });
    expect((await refOf('dryRun=All&b', { name: 'named' }, 'carol-token-0123')).name).toBeUndefined();
    const invalid = await refOf('dryRun=All&c', { name: 'Not A Name' });
    expect(invalid).toMatchObject({ name: 'Not A Name', message: expect.stringContaining('metadata.name') as string });
  });

  test('has the uid and the resource version that were sent, unless the body was not read', async () => {
    const path = '/api/v1/namespaces/default/limitranges';
    const metadata = { name: 'sent', uid: 'other', resourceVersion: '7' };
    const send = async (method: 'post' | 'put', uri: string) => {
      await api[method](uri, { metadata });
      return await eventOf(uri);
    };
    const updated = await send('put', `${path}/sent?a`);
    expect(updated).toMatchObject({ objectRef: { name: 'sent', uid: 'other', resourceVersion: '7' } });
    expect(Object.keys(updated.objectRef!)).toEqual([
      ...['resource', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion'],
    ]);
    expect(await send('post', `${path}?a`)).toMatchObject({ objectRef: { uid: 'other' } });
    for (const query of ['dryRun=some', `fieldManager=${'x'.repeat(200)}`]) {
      const { objectRef, requestObject } = await send('post', `${path}?${query}`);
      expect([objectRef, requestObject]).toEqual([
        { resource: 'limitranges', namespace: 'default', apiVersion: 'v1' },
        undefined,
      ]);
    }
  });

  test('has objects of subresources with their kind, also if they were sent without it', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await api.post(pods, { metadata: { name: 'bound' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await api.post(`${pods}/bound/binding?a`, { metadata: {}, target: { kind: 'Node', name: 'n' } });
    expect((await eventOf(`${pods}/bound/binding?a`)).requestObject).toMatchObject({
      kind: 'Binding',
      apiVersion: 'v1',
    });
    await api.post(`${pods}/bound/eviction?a`, { metadata: { name: 'bound' } });
    expect((await eventOf(`${pods}/bound/eviction?a`)).requestObject).toMatchObject({
      ...{ kind: 'Eviction', apiVersion: 'policy/v1' },
    });
  });

  test('names the object that was created from a long body, without other parts of the body', async () => {
    const path = '/api/v1/namespaces/default/configmaps?long=1';
    await api.post(path, { metadata: { name: 'long' }, data: { text: 'x'.repeat(200_000) } });
    expect(await eventOf(path)).toMatchObject({ level: 'Metadata', objectRef: { name: 'long' } });
  });

  test('has the annotations of admission also for a create under a name that exists', async () => {
    const spaces = '/api/v1/namespaces';
    const labels = { 'pod-security.kubernetes.io/audit': 'baseline' };
    await api.made(spaces, { metadata: { name: 'checked', labels } });
    const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] };
    for (const [query, code] of [
      ['fieldManager=first', 201],
      ['fieldManager=second', 409],
    ] as const) {
      const path = `${spaces}/checked/pods?${query}`;
      await api.post(path, { metadata: { name: 'p' }, spec });
      const { annotations, responseStatus } = await eventOf(path);
      expect(responseStatus).toMatchObject({ code });
      expect(annotations!['pod-security.kubernetes.io/audit-violations']).toContain('host namespaces');
    }
  });

  test('has bodies in protobuf as JSON', async () => {
    const path = '/api/v1/namespaces/default/services?limit=9';
    await api.get(path, { accept: 'application/vnd.kubernetes.protobuf' });
    const listed = await eventOf(path);
    expect(listed).toMatchObject({ responseStatus: { code: 200 }, responseObject: { kind: 'ServiceList' } });
    expect((listed.responseObject as Loose)['items']).toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ name: 'kubernetes' }) as object }),
    );
    const one = '/api/v1/namespaces/default/services/kubernetes';
    await api.get(one, { accept: 'application/vnd.kubernetes.protobuf' });
    expect((await eventOf(one)).responseObject).toMatchObject({ kind: 'Service', metadata: { name: 'kubernetes' } });
  });

  test('has long bodies and lists that are sent in parts or compressed, up to a size limit', async () => {
    const path = '/api/v1/namespaces/default/limitranges';
    const annotations = { long: 'x'.repeat(200_000) };
    const longs = (event: Loose) => JSON.stringify(event).match(/"long":"x{200000}"/g)?.length;
    for (const name of ['l1', 'l2', 'l3'])
      await api.made(`${path}?fieldManager=${name}`, { metadata: { name, annotations }, spec: { limits: [] } });
    expect(longs(await eventOf(`${path}?fieldManager=l1`))).toBe(2);
    const gzip = { headers: { 'accept-encoding': 'gzip' } };
    for (const [query, options] of [
      ['limit=50', {}],
      ['limit=51', gzip],
    ] as const) {
      await api.get(`${path}?${query}`, options);
      const event = await eventOf(`${path}?${query}`);
      expect(longs(event)).toBe(3);
      expect(event.annotations).not.toHaveProperty('audit.k8s.io/truncated');
    }
    await api.get(`${path}?limit=52`, { accept: 'application/yaml' });
    expect(longs(await eventOf(`${path}?limit=52`))).toBe(3);
  });

  test('has no body of a refused request', async () => {
    const path = '/api/v1/namespaces/default/limitranges?by=carol';
    await api.post(path, { metadata: { name: 'x' } }, { token: 'carol-token-0123' });
    const event = await eventOf(path);
    expect(event).toMatchObject({ responseStatus: { code: 403 }, responseObject: { reason: 'Forbidden' } });
    expect(event.requestObject).toBeUndefined();
  });

  test('is a file that only its owner can read', () => {
    expect(statSync(join(directory, 'audit.log')).mode & 0o777).toBe(0o600);
  });

  test('has no secret, token or key, and neither have errors and metrics', async () => {
    const core = '/api/v1/namespaces/default';
    const secrets = ['v4lue-of-a-secret', 'bob-token-0123', 'carol-token-0123', api.server.token, 'wrong-token-0123'];
    const stringData = { password: secrets[0]! };
    await api.made(`${core}/secrets`, { metadata: { name: 'held' }, stringData });
    secrets.push(Buffer.from(secrets[0]!).toString('base64'));
    const requested = await api.post(`${core}/serviceaccounts/default/token`, { spec: {} });
    const bound = textOf(requested.body.status!.token);
    const answers = [
      await api.get(`${core}/secrets/none`, { token: bound }),
      await api.get('/version', { token: 'wrong-token-0123' }),
      await api.get('/version', { token: `${bound}x` }),
      await api.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} }, { token: bound }),
      await api.post(`${core}/secrets`, { metadata: { name: 'x' }, type: 1, stringData }),
      await api.post(`${core}/secrets`, `{"stringData": {"password": "${secrets[0]}"`),
      await api.post(`${core}/services`, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' }, stringData }),
      await api.get('/metrics', { accept: '*/*' }),
    ];
    const review = { spec: { token: bound } };
    await api.post('/apis/authentication.k8s.io/v1/tokenreviews', review);
    await eventOf('/apis/authentication.k8s.io/v1/tokenreviews');
    await api.patch(`${core}/secrets/held`, MERGE, { stringData: { other: secrets[0] } });
    for (const uri of [`${core}/serviceaccounts/default/token`, `${core}/secrets`, `${core}/secrets/held`])
      expect(await eventOf(uri)).toMatchObject({ level: 'Metadata' });
    const pki = join(directory, 'data', 'pki');
    const keys = readdirSync(pki).filter(file => file.endsWith('.key') && file !== 'continue.key');
    const lines = keys.flatMap(file => readFileSync(join(pki, file), 'utf8').split('\n').slice(1, 3));
    const shown = [log(), ...answers.map(({ text }) => text)].join('\n');
    for (const secret of [...secrets, bound, bound.split('.')[2]!, ...lines.filter(line => line.length > 20)])
      expect([secret.slice(0, 12), shown.includes(secret)]).toEqual([secret.slice(0, 12), false]);
  });
});

const policyWith = (rule: string, ...others: string[]): string =>
  ['apiVersion: audit.k8s.io/v1', 'kind: Policy', `rules: [${rule}]`, ...others].join('\n');

test.each([
  ['x: [', 'Flow sequence'],
  ['apiVersion: v1\nkind: Policy\nrules: [{level: None}]', 'must be an object of apiVersion audit.k8s.io/v1'],
  [policyWith(''), 'loaded illegal policy with 0 rules'],
  [policyWith('{level: Some}'), 'rules[0].level: must be None, Metadata'],
  [policyWith('{level: None}, null'), 'rules[1].level: must be None, Metadata'],
  [policyWith('{level: None, omitManagedFields: x}'), 'must be true or false'],
  [policyWith('{level: None, omitStages: [x]}'), 'unknown stage "x"'],
  [policyWith('{level: None}', 'omitStages: RequestReceived'), 'omitStages: must be a list, not string'],
  // Read as absent, these fields would match everything.
  [policyWith('{level: None, users: ann}'), 'rules[0].users: must be a list, not string'],
  [policyWith('{level: None, userGroups: {}}'), 'rules[0].userGroups: must be a list, not an object'],
  [policyWith('{level: None, verbs: [1]}'), 'rules[0].verbs[0]: must be a string, not number'],
  [policyWith('{level: None, resources: [pods]}'), 'rules[0].resources[0]: must be an object, not string'],
  [policyWith('{level: None, resources: [{resources: pods}]}'), 'rules[0].resources[0].resources: must be a list'],
  [policyWith('{level: None, resources: [{group: apps/v1}]}'), 'resources[0].group: must be a group without a version'],
  [policyWith('{level: None, resources: [{resourceNames: [x]}]}'), 'resources[0].resourceNames: needs resources too'],
  [policyWith('{level: None, nonResourceURLs: [healthz]}'), 'nonResourceURLs[0]: must begin with /, unless it is *'],
  [policyWith('{level: None, nonResourceURLs: ["/*/x"]}'), 'nonResourceURLs[0]: must have * only at its end'],
  [policyWith('{level: None, namespaces: [a], nonResourceURLs: [/x]}'), 'cannot apply to both'],
])('a policy that cannot be used is refused: %j', (yaml, why) => {
  expect(() => parsePolicy(yaml, 'policy.yaml', 'audit.k8s.io')).toThrow(why);
});

test('unknown fields of a policy are ignored, as in upstream, and named for a warning', () => {
  const yaml = policyWith('{level: None, user: [ann], nonResourceURLs: ["*"]}', 'metadata: {name: x}', 'extra: 1');
  const { rules, unknown } = parsePolicy(yaml, 'policy.yaml', 'audit.k8s.io');
  expect(unknown).toEqual(['extra', 'rules[0].user']);
  expect(rules).toMatchObject([{ level: 'None', users: [], paths: ['*'] }]);
});
