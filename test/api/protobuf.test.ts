import fc from 'fast-check';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { normalize } from '../../core/schema/decode/decode.js';
import type { Struct } from '../../core/schema/model.js';
import { decodeMessage, encodeEnvelope, encodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { watchFrame, withEnvelopeRevision } from '../../core/schema/protobuf/protobufWatch.js';
import { typeOf } from '../../core/schema/table/types.js';
import { anyValueOf } from '../schema/values.js';
import { Api } from './support.js';
import { getBytes, secret, versionOf } from './watching.js';

type Members = { [member: string]: Json };

const PB = 'application/vnd.kubernetes.protobuf';

/** The published message definitions, for a decoder that is independent of the server's code. */
const { root } = protobuf.parse(`
  syntax = "proto2";
  message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
  message Unknown {
    optional TypeMeta typeMeta = 1; optional bytes raw = 2; optional string contentEncoding = 3;
    optional string contentType = 4;
  }
  message Time { optional int64 seconds = 1; optional int32 nanos = 2; }
  message OwnerReference {
    optional string kind = 1; optional string name = 3; optional string uid = 4; optional string apiVersion = 5;
    optional bool controller = 6; optional bool blockOwnerDeletion = 7;
  }
  message ObjectMeta {
    optional string name = 1; optional string generateName = 2; optional string namespace = 3;
    optional string selfLink = 4; optional string uid = 5;
    optional string resourceVersion = 6; optional int64 generation = 7; optional Time creationTimestamp = 8;
    optional Time deletionTimestamp = 9;
    optional int64 deletionGracePeriodSeconds = 10; map<string, string> labels = 11;
    map<string, string> annotations = 12;
    repeated OwnerReference ownerReferences = 13; repeated string finalizers = 14;
  }
  message ListMeta {
    optional string selfLink = 1; optional string resourceVersion = 2; optional string continue = 3;
    optional int64 remainingItemCount = 4;
  }
  message Secret {
    optional ObjectMeta metadata = 1; map<string, bytes> data = 2; optional string type = 3;
    map<string, string> stringData = 4; optional bool immutable = 5;
  }
  message SecretList { optional ListMeta metadata = 1; repeated Secret items = 2; }
  message PartialObjectMetadata { optional ObjectMeta metadata = 1; }
  message PartialObjectMetadataList { optional ListMeta metadata = 1; repeated PartialObjectMetadata items = 2; }
  message Status {
    optional ListMeta metadata = 1; optional string status = 2; optional string message = 3; optional string reason = 4;
    optional int32 code = 6;
  }
  message RawExtension { optional bytes raw = 1; }
  message WatchEvent { optional string type = 1; optional RawExtension object = 2; }
`);

/** A decoded message; leaves are decoded with the expected type. */
interface Message {
  readonly [member: string]: Message;
}
const bytesIn = (value: Message | undefined): Uint8Array => value as unknown as Uint8Array;
const textIn = (value: Message | undefined): string => value as unknown as string;
const itemsOf = (message: Message): readonly Message[] => message['items'] as unknown as readonly Message[];
const read = (type: string, bytes: Uint8Array): Message =>
  root.lookupType(type).toObject(root.lookupType(type).decode(bytes), { longs: Number }) as Message;

/** Decodes the envelope, and its content according to the kind in the envelope. */
function open(bytes: Uint8Array): { apiVersion: string; kind: string; message: Message } {
  expect(Buffer.from(bytes.subarray(0, 4)).toString('latin1')).toBe('k8s\0');
  const { typeMeta, raw } = read('Unknown', bytes.subarray(4));
  const kind = textIn(typeMeta!['kind']);
  return { apiVersion: textIn(typeMeta!['apiVersion']), kind, message: read(kind, bytesIn(raw)) };
}

/**
 * The events of a stream, each with its object. The uws listener may have sent the first byte of a next event that did
 * not follow.
 */
function events(bytes: Buffer): { type: string; kind: string; message: Message }[] {
  const all = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const { type, object } = read('WatchEvent', bytes.subarray(at + 4, end));
    all.push({ type: textIn(type), ...open(bytesIn(object!['raw'])) });
    at = end;
  }
  return all;
}

describe('any value of any kind', () => {
  const KINDS = [
    'core.v1.Pod',
    'core.v1.Service',
    'core.v1.Node',
    'core.v1.Secret',
    'core.v1.Event',
    'core.v1.PersistentVolume',
    'apps.v1.Deployment',
    'apps.v1.StatefulSet',
    'batch.v1.CronJob',
    'autoscaling.v2.HorizontalPodAutoscaler',
    'networking.v1.Ingress',
    'networking.v1.NetworkPolicy',
    'rbac.v1.ClusterRole',
    'coordination.v1.Lease',
    'discovery.v1.EndpointSlice',
    'apiextensions.v1.CustomResourceDefinition',
    'policy.v1.PodDisruptionBudget',
  ];
  const canonical = (struct: Struct, value: Members): unknown =>
    JSON.parse(JSON.stringify(normalize(struct, value, { strictErrors: [] })));

  test.each(KINDS)('%s is decoded to the same object, and encoded to the same bytes [R101 R102 R103]', id => {
    const struct = typeOf(id);
    fc.assert(
      fc.property(anyValueOf(struct), value => {
        const bytes = encodeMessage(struct, value);
        const { value: back, unknown } = decodeMessage(struct, bytes);
        expect(unknown).toEqual([]);
        expect(canonical(struct, back as Members)).toEqual(canonical(struct, value));
        expect(Buffer.from(encodeMessage(struct, back as Members)).equals(bytes)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('a version of any length is inserted into an encoded object as if it were encoded with it', () => {
    const struct = typeOf('core.v1.Secret');
    const versions = fc.maxSafeNat();
    fc.assert(
      fc.property(anyValueOf(struct), versions, versions, (value, before, after) => {
        const encoded = (version: number): Uint8Array => {
          const metadata = { ...(value['metadata'] as Members | undefined), resourceVersion: String(version) };
          return encodeEnvelope('v1', 'Secret', encodeMessage(struct, { ...value, metadata }));
        };
        expect(Buffer.from(withEnvelopeRevision(encoded(before), after)).equals(encoded(after))).toBe(true);
      }),
    );
    const other = encodeEnvelope('v1', 'Secret', new Uint8Array());
    expect(withEnvelopeRevision(other, 7)).toBe(other);
  });

  test('frames of a watch are split correctly, whatever their content', () => {
    const frames = fc.array(
      fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'), fc.string()),
    );
    fc.assert(
      fc.property(frames, all => {
        const raw = (name: string): Uint8Array => encodeMessage(typeOf('core.v1.Secret'), { metadata: { name } });
        const stream = Buffer.concat(
          all.map(([type, name]) => watchFrame(type, encodeEnvelope('v1', 'Secret', raw(name)))),
        );
        expect(events(stream).map(({ type, message }) => [type, message['metadata']!['name'] ?? ''])).toEqual(all);
      }),
    );
  });
});

describe('protobuf over HTTP', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('pb')}/secrets`;
    for (const name of ['a', 'b', 'c']) await api.made(path, secret(name, `value of ${name}`, { z: '1', app: name }));
  });
  afterAll(() => api.close());
  const get = (asked: string, accept = PB) => getBytes(api.server, asked, { accept });
  const data = (message: Message): string => Buffer.from(bytesIn(message['data']!['value'])).toString();

  test('an object is the same as in JSON [R100 R101 R104 R187]', async () => {
    const json = (await api.get(`${path}/a`)).body;
    const { status, headers, bytes } = await get(`${path}/a`);
    expect([status, headers['content-type']]).toEqual([200, PB]);
    const { apiVersion, kind, message } = open(bytes);
    expect([apiVersion, kind, data(message)]).toEqual(['v1', 'Secret', 'value of a']);
    const { uid, resourceVersion, creationTimestamp } = json['metadata'] as unknown as { [name: string]: string };
    expect(message['metadata']).toMatchObject({
      name: 'a',
      namespace: 'pb',
      uid,
      resourceVersion,
      labels: { app: 'a', z: '1' },
      creationTimestamp: { seconds: Date.parse(creationTimestamp!) / 1000 },
    });
  });

  test('lists, pages, and a selection at an old version are supported', async () => {
    const whole = open((await get(path)).bytes);
    expect([whole.apiVersion, whole.kind]).toEqual(['v1', 'SecretList']);
    expect(itemsOf(whole.message).map(item => item['metadata']!['name'])).toEqual(['a', 'b', 'c']);
    const { metadata } = open((await get(`${path}?limit=2`)).bytes).message;
    expect(metadata).toMatchObject({ resourceVersion: expect.stringMatching(/^\d+$/), remainingItemCount: 1 });
    const rest = open((await get(`${path}?limit=2&continue=${metadata!['continue']}`)).bytes).message;
    expect(itemsOf(rest).map(data)).toEqual(['value of c']);
    expect(rest['metadata']!['resourceVersion']).toBe(metadata!['resourceVersion']);
  });

  test('answers to writes have the version that was written', async () => {
    const stored = open((await api.bytes(path, secret('w', '1'), PB)).bytes).message;
    expect(stored['metadata']!['resourceVersion']).toBe(versionOf((await api.get(`${path}/w`)).body));
    const raw = encodeMessage(typeOf('core.v1.Secret'), { metadata: { name: 'w' }, data: { value: 'Mg==' } });
    const put = await api.put(`${path}/w`, encodeEnvelope('v1', 'Secret', raw), { type: PB });
    expect([put.status, put.body['data']]).toEqual([200, { value: 'Mg==' }]);
    await api.delete(`${path}/w`);
  });

  test('refusals are a Status in protobuf', async () => {
    const { status, headers, bytes } = await get(`${path}/absent`);
    expect([status, headers['content-type']]).toEqual([404, PB]);
    const { kind, message } = open(bytes);
    expect([kind, message]).toMatchObject(['Status', { status: 'Failure', reason: 'NotFound', code: 404 }]);
  });

  test('metadata-only forms of an object and a list are supported', async () => {
    const one = open((await get(`${path}/a`, `${PB};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`)).bytes);
    expect([one.apiVersion, one.kind, one.message['metadata']!['name']]).toEqual([
      'meta.k8s.io/v1',
      'PartialObjectMetadata',
      'a',
    ]);
    const list = open((await get(path, `${PB};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`)).bytes);
    expect(itemsOf(list.message).map(item => item['metadata']!['name'])).toEqual(['a', 'b', 'c']);
  });

  test('a Table is not supported: the next entry of Accept is used, without one the answer is 406', async () => {
    const table = ';as=Table;g=meta.k8s.io;v=v1';
    expect((await get(path, `${PB}${table}`)).status).toBe(406);
    const answer = await get(path, `${PB}${table},application/json${table}`);
    expect([answer.headers['content-type'], JSON.parse(answer.bytes.toString()).kind]).toEqual([
      'application/json',
      'Table',
    ]);
  });

  test('a watch: initial events, the bookmark, changes, deletions, the last bookmark', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3';
    const watching = get(`${path}?watch=1&${query}`);
    await api.get(`${path}/a`);
    await api.made(path, secret('d'));
    await api.delete(`${path}/d`);
    const { status, headers, bytes } = await watching;
    expect([status, headers['content-type']]).toEqual([200, `${PB};stream=watch`]);
    const seen = events(bytes);
    const named = seen.map(({ type, message }) => `${type} ${message['metadata']!['name'] ?? ''}`);
    expect(named.filter(text => !text.endsWith(' d'))).toEqual([
      'ADDED a',
      'ADDED b',
      'ADDED c',
      'BOOKMARK ',
      'BOOKMARK ',
    ]);
    const marks = seen
      .filter(({ type }) => type === 'BOOKMARK')
      .map(({ message }) => message['metadata']!['annotations'] ?? {});
    expect(marks).toEqual([
      { 'k8s.io/initial-events-end': 'true', 'kubernetes.io/initial-events-list-blueprint': expect.any(String) },
      {},
    ]);
    expect(named.at(-2)).toBe('DELETED d');
    expect(seen.every(({ kind }) => kind === 'Secret')).toBe(true);
    const deleted = seen.at(-2)!.message['metadata']!['resourceVersion'];
    expect(Number(seen.at(-1)!.message['metadata']!['resourceVersion'])).toBeGreaterThanOrEqual(Number(deleted));
  });

  test('an error in a watch is an event with a Status', async () => {
    const short = await Api.start({ historyRetention: 200 });
    const { metadata } = await short.made('/api/v1/namespaces', { metadata: { name: 'n' } });
    let i = 0;
    let bytes: Buffer = Buffer.alloc(0);
    await short.until(async () => {
      await short.made('/api/v1/namespaces/n/secrets', secret(`s${i++}`));
      const version = String(metadata!['resourceVersion']);
      const asked = `/api/v1/secrets?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dx&resourceVersion=${version}`;
      ({ bytes } = await getBytes(short.server, asked, { accept: PB }));
      return bytes.length > 1;
    });
    expect(events(bytes)).toMatchObject([{ type: 'ERROR', kind: 'Status', message: { reason: 'Expired', code: 410 } }]);
    await short.close();
  });
});
