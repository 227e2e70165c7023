import { Encoder } from 'cbor-x';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CBOR_TAG } from '../../core/schema/cbor/cbor.js';
import { decodeCbor } from '../../core/schema/cbor/cborDecode.js';
import { Api, deployment, type Loose, namesIn, openWidgets } from './support.js';
import { getBytes, secret, versionOf } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const CBOR = 'application/cbor';
const APPLY = 'application/apply-patch+cbor';
const AS = 'g=meta.k8s.io;v=v1';
const WIDGETS = '/apis/cbor.example.com/v1/namespaces/default/widgets';
const encoder = new Encoder({ useRecords: false, variableMapSize: true });
const encode = (value: object): Buffer => encoder.encode(value);
const decode = (bytes: Uint8Array): Loose => decodeCbor(bytes) as unknown as Loose;

/** The first bytes of an event of a watch. */
const EVENT = Buffer.concat([CBOR_TAG, Buffer.from([0xa2, 0x44]), Buffer.from('type')]);

/** The events of a stream that has ended. */
function eventsIn(stream: Buffer): Loose[] {
  const starts: number[] = [];
  for (let at = stream.indexOf(EVENT); at >= 0; at = stream.indexOf(EVENT, at + 1)) starts.push(at);
  // After the last event there may be the first byte of the next one, which is sent early.
  const end = stream.at(-1) === CBOR_TAG[0] ? stream.length - 1 : stream.length;
  return starts.map((start, i) => decode(stream.subarray(start, starts[i + 1] ?? end)));
}
const nameOf = (event: Loose): string => `${event['type']} ${event['object']!['metadata']!['name'] ?? ''}`.trim();

describe('CBOR over HTTP, with the feature gate [R191]', () => {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.start({ featureGates: ['CBORServingAndStorage=true'] });
    path = `${await api.namespace('cbor')}/secrets`;
    for (const name of ['a', 'b', 'c']) await api.made(path, secret(name, `value of ${name}`, { app: name }));
    await api.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', openWidgets('cbor.example.com'));
    await api.until(async () => (await api.get(WIDGETS)).status === 200);
  });
  afterAll(async () => {
    await agent.destroy();
    await api.close();
  });

  const get = (asked: string, accept = CBOR) => getBytes(api.server, asked, { accept });
  /** A write whose body and answer are in CBOR, unless another type of body is given. */
  const write = async (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', to: string, value: object, type = CBOR) => {
    const answer = await request(api.server.url + to, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${api.server.token}`, accept: CBOR, 'content-type': type },
      body: type.endsWith('cbor') ? encode(value) : JSON.stringify(value),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    expect(answer.headers['content-type']).toBe(CBOR);
    return { status: answer.statusCode, body: decode(bytes) };
  };

  it('shows an object as in JSON, after the tag of CBOR', async () => {
    const { status, headers, bytes } = await get(`${path}/a`);
    expect([status, headers['content-type'], bytes.subarray(0, 3)]).toEqual([200, CBOR, CBOR_TAG]);
    expect(decode(bytes)).toEqual((await api.get(`${path}/a`)).body);
  });

  it.each(['', '?limit=2', '?labelSelector=app=b', '?labelSelector=app=none'])(
    'shows a list%s as in JSON',
    async query => {
      const shown = decode((await get(`${path}${query}`)).bytes);
      const { metadata, ...list } = (await api.get(`${path}${query}`)).body as { metadata: object };
      expect(shown).toMatchObject(list);
      expect(Object.keys(shown['metadata']!)).toEqual(Object.keys(metadata));
    },
  );

  it('shows a list that is rendered in slices', async () => {
    const many = `${await api.namespace('many')}/secrets`;
    for (let i = 0; i < 6; i++) await api.made(many, secret(`s${i}`, 'x'.repeat(100_000)));
    const shown = decode((await get(many)).bytes);
    expect(shown['items']).toEqual((await api.get(many)).body['items']);
  });

  it('shows metadata, but no Table: the next entry of Accept is used', async () => {
    const one = decode((await get(`${path}/a`, `${CBOR};as=PartialObjectMetadata;${AS}`)).bytes);
    expect([one['kind'], one['metadata']!['name'], one['data']]).toEqual(['PartialObjectMetadata', 'a', undefined]);
    const list = decode((await get(path, `${CBOR};as=PartialObjectMetadataList;${AS}`)).bytes);
    expect(namesIn(list)).toEqual(['a', 'b', 'c']);
    expect((await get(path, `${CBOR};as=Table;${AS}`)).status).toBe(406);
    const table = await get(path, `${CBOR};as=Table;${AS},application/json;as=Table;${AS}`);
    expect(JSON.parse(table.bytes.toString()).kind).toBe('Table');
  });

  it('shows other versions and scales', async () => {
    const deployments = '/apis/apps/v1/namespaces/cbor/deployments';
    await api.made(deployments, deployment('web'));
    const scale = decode((await get(`${deployments}/web/scale`)).bytes);
    expect(scale).toEqual((await api.get(`${deployments}/web/scale`)).body);
    const more = { ...scale, spec: { replicas: 3 } };
    const { status, body } = await write('PUT', `${deployments}/web/scale`, more);
    expect([status, body]).toEqual([200, (await api.get(`${deployments}/web/scale`)).body]);
  });

  it('refuses with a Status', async () => {
    const { status, headers, bytes } = await get(`${path}/absent`);
    expect([status, headers['content-type']]).toEqual([404, CBOR]);
    expect(decode(bytes)).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 });
  });

  it('reads the bodies of writes, and answers with the version that was written', async () => {
    const created = await write('POST', path, { ...secret('w', '1'), data: { bytes: 'aGk=' } });
    expect([created.status, created.body]).toEqual([201, (await api.get(`${path}/w`)).body]);
    expect(created.body['data']).toEqual({ bytes: 'aGk=', value: 'MQ==' });
    const changed = await write('PUT', `${path}/w`, { ...created.body, data: { value: 'Mg==' } });
    expect([changed.status, changed.body]).toEqual([200, (await api.get(`${path}/w`)).body]);
    const patched = await write('PATCH', `${path}/w`, { data: { value: 'Mw==' } }, MERGE);
    expect(versionOf(patched.body)).toBe(versionOf((await api.get(`${path}/w`)).body));
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'another' } };
    expect(await write('DELETE', `${path}/w`, options)).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
    expect(await write('DELETE', `${path}/w`, {})).toMatchObject({ status: 200, body: { status: 'Success' } });
  });

  it('reports unknown fields, wrong types and unreadable bodies', async () => {
    const strict = await write('POST', `${path}?fieldValidation=Strict`, { ...secret('x'), extra: 1 });
    expect(strict.body['message']).toMatch(/strict decoding error: unknown field "extra"/);
    expect((await write('POST', path, { ...secret('x'), immutable: 'yes' })).status).toBe(400);
    const cut = encode(secret('x')).subarray(0, 20);
    const answer = await api.post(path, cut, { type: CBOR });
    expect(answer.status).toBe(400);
    expect(answer.body['message']).toMatch(/^the object provided is unrecognized .*unexpected EOF/);
  });

  it('reads the configuration of an apply, but no other patch [R200] [R207]', async () => {
    const config = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'applied' }, data: { value: 'NQ==' } };
    const { status, body } = await write('PATCH', `${path}/applied?fieldManager=me`, config, APPLY);
    expect([status, body]).toEqual([201, (await api.get(`${path}/applied`)).body]);
    expect(body['metadata']!['managedFields']).toMatchObject([{ manager: 'me', operation: 'Apply' }]);
    const unreadable = await api.patch(`${path}/applied?fieldManager=me`, APPLY, Buffer.from('ff', 'hex'));
    expect([unreadable.status, unreadable.body['message']]).toEqual([
      400,
      expect.stringMatching(/^error decoding CBOR/),
    ]);
    for (const format of ['json', 'merge', 'strategic-merge']) {
      const type = `application/${format}-patch+cbor`;
      expect((await write('PATCH', `${path}/applied`, {}, type)).status).toBe(415);
    }
  });

  it('serves custom kinds', async () => {
    const widget = { apiVersion: 'cbor.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, n: 2 ** 40, f: 1.5 };
    const created = await write('POST', WIDGETS, widget);
    expect([created.status, created.body]).toEqual([201, (await api.get(`${WIDGETS}/w`)).body]);
    expect(created.body).toMatchObject({ n: 2 ** 40, f: 1.5 });
    expect(decode((await get(WIDGETS)).bytes)['items']).toEqual([created.body]);
  });

  it('streams a watch as a sequence of events [R192] [R329]', async () => {
    const seen = `${await api.namespace('seen')}/secrets`;
    await api.made(seen, secret('first'));
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const reading = get(`${seen}?${query}&timeoutSeconds=3`, `${CBOR};q=0.9,application/json;q=0.1`);
    await api.made(seen, secret('second'));
    await api.patch(`${seen}/second`, MERGE, { metadata: { labels: { a: 'b' } } });
    await api.delete(`${seen}/second`);
    const { headers, bytes } = await reading;
    expect(headers['content-type']).toBe('application/cbor-seq');
    const events = eventsIn(bytes);
    const names = events.map(nameOf).filter(name => name !== 'BOOKMARK');
    expect(names).toEqual(['ADDED first', 'ADDED second', 'MODIFIED second', 'DELETED second']);
    const { object } = events.find(event => nameOf(event) === 'BOOKMARK')!;
    expect(object!['metadata']!['annotations']).toMatchObject({ 'k8s.io/initial-events-end': 'true' });
    expect(events[0]!['object']).toEqual((await api.get(`${seen}/first`)).body);
  });

  it('streams metadata', async () => {
    const partial = `${CBOR};as=PartialObjectMetadata;${AS}`;
    const { bytes } = await get(`${path}?watch=1&resourceVersion=0&timeoutSeconds=1&labelSelector=app`, partial);
    const events = eventsIn(bytes);
    expect(events.map(nameOf)).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
    expect(events[0]!['object']!['kind']).toBe('PartialObjectMetadata');
  });

  it('is named among the accepted media types', async () => {
    expect((await api.get(`${path}/a`, { accept: 'text/plain' })).body['message']).toMatch(/, application\/cbor$/);
    expect((await api.get(path, { accept: 'text/plain' })).body['message']).toMatch(/, application\/cbor-seq$/);
    expect((await api.post(path, 'x', { type: 'text/plain' })).body['message']).toMatch(/, application\/cbor$/);
  });
});

describe('CBOR without the feature gate [R191] [R200]', () => {
  it('is neither read nor written', async () => {
    const api = await Api.shared();
    const secrets = '/api/v1/namespaces/default/secrets';
    expect((await api.get(secrets, { accept: CBOR })).status).toBe(406);
    expect((await api.get(`${secrets}?watch=1`, { accept: CBOR })).status).toBe(406);
    expect((await api.post(secrets, encode(secret('x')), { type: CBOR })).status).toBe(415);
    expect((await api.patch(`${secrets}/x`, APPLY, encode(secret('x')))).status).toBe(415);
    await api.close();
  });
});
