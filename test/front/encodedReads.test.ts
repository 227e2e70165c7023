import { expect, test } from 'vitest';
import { FRONT_ENCODING_BYTES } from '../../core/limits.js';
import { namingOf } from '../../core/naming.js';
import type { Route } from '../../core/request/route.js';
import { decodeEnvelope, decodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { decodeCbor } from '../../core/schema/cbor/cborDecode.js';
import { encodeRecords } from '../../core/schema/protobuf/protobufList.js';
import { typeOf } from '../../core/schema/table/types.js';
import { Entry } from '../../core/threads/entries/entry.js';
import type { Rendering } from '../../core/threads/messages/messages.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { Records } from '../../workers/front/forms/sharedEncodings.js';
import { Encodings } from '../../workers/front/forms/encodingCache.js';
import { cborForm, cborListForm } from '../../workers/front/forms/cborForms.js';
import { EncodedReads } from '../../workers/front/forms/encodedReads.js';
import { protobufForm, ProtobufLists } from '../../workers/front/forms/protobufLists.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { registryOf } from '../kinds/builtIn.js';

const PODS = registryOf('kubernetes').byKind('v1', 'Pod')!;
const choice = { form: 'object', version: 'v1', pretty: undefined, contentType: '' } as const;
const route = {} as Route;
const PROTOBUF = protobufForm({ ...choice, media: 'protobuf' }, route, PODS, namingOf('kubernetes'), false)!;
/** Encoded by the pool. */
const FORM = { ...PROTOBUF, encode: undefined };
const POD = typeOf('core.v1.Pod');
const request = {} as FrontRequest;

const entryOf = (name: string): Entry => {
  const value = Buffer.from(name);
  return new Entry(`core/pods/a/${name}`, 1, value);
};

/** The pool has no thread that is free. */
const nothing = async (): Promise<undefined> => undefined;

/** Reads whose pool encodes an object as its own bytes, and counts the objects. */
function setUp() {
  const encoded: string[] = [];
  const render = async (_request: FrontRequest, { objects }: Rendering) => {
    encoded.push(...objects.map(object => Buffer.from(object).toString()));
    return {
      id: 0,
      is: 'rendered' as const,
      pieces: objects.map(object => Buffer.from([0x12, object.length, ...object])),
    };
  };
  return {
    encoded,
    reads: new EncodedReads(new Records({ render, renderWhenFree: nothing }, new Encodings(), new Slices())),
  };
}

test('watches, gets and lists share the encodings of an object, each in an envelope of its own', async () => {
  const { encoded, reads } = setUp();
  const [one, two, three] = ['one', 'two', 'three'].map(entryOf) as [Entry, Entry, Entry];
  await reads.records.find(request, [one, two], FORM);
  const messages = await reads.messages(request, [two, three, one], FORM);
  expect(encoded).toEqual(['one', 'two', 'three']);
  const shown = messages.map(message => decodeEnvelope(message));
  expect(shown.map(({ raw }) => Buffer.from(raw).toString())).toEqual(['two', 'three', 'one']);
  expect(shown[1]).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
  await reads.messages(request, [three], FORM);
  await reads.records.find(request, [one, two, three], FORM);
  expect(encoded).toHaveLength(3);
});

test('a short object that is stored in the version of the request is encoded here, at once and once', () => {
  const { encoded, reads } = setUp();
  const value = Buffer.from('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"one"}}');
  const entry = new Entry('core/pods/a/one', 1, value);
  const message = reads.message(request, entry, PROTOBUF) as Uint8Array;
  const { kind, raw } = decodeEnvelope(message);
  expect([kind, decodeMessage(POD, raw).value]).toMatchObject(['Pod', { metadata: { name: 'one' } }]);
  expect(reads.records.encodings.find([entry], PROTOBUF.key)).toHaveLength(1);
  expect(reads.messageOfDeleted(value, PROTOBUF)).toEqual(message);
  expect(encoded).toEqual([]);
});

test('an object that takes longer to encode is left to the pool', async () => {
  const { encoded, reads } = setUp();
  const long = new Entry('core/pods/a/long', 1, new Uint8Array(FRONT_ENCODING_BYTES + 1));
  await reads.messages(request, [long], PROTOBUF);
  expect(encoded).toHaveLength(1);
  expect(reads.messageOfDeleted(long.value, PROTOBUF)).toBeUndefined();
});

test('in CBOR, gets, lists and watches share the encoding of an object', async () => {
  const form = cborForm({ ...choice, media: 'cbor' }, route, PODS)!;
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'one', labels: { a: '"\u00e9' } },
    spec: { n: 1.5 },
  };
  const text = Buffer.from(JSON.stringify(object));
  const entry = new Entry('core/pods/a/one', 1, text);
  const records = new Records(
    { render: () => Promise.reject(new Error('not to be asked')), renderWhenFree: nothing },
    new Encodings(),
    new Slices(),
  );
  const reads = new EncodedReads(records);
  const message = reads.message(request, entry, form) as Uint8Array;
  expect(decodeCbor(message)).toEqual(object);
  expect(decodeCbor(form.toEvent('ADDED', message))).toEqual({ type: 'ADDED', object });
  expect(await reads.messages(request, [entry], { ...form, encode: undefined })).toEqual([message]);
  const { head, tail } = cborListForm(form, PODS, records).frame({ resourceVersion: '7' });
  const items = await cborListForm({ ...form, encode: undefined }, PODS, records).items(request, [entry, entry]);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  expect(decodeCbor(Buffer.concat([head, ...items, tail]))).toEqual({
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    items: [item, item],
  });
});

test('lists at the same time encode each object once', async () => {
  const lists = new ProtobufLists(setUp().reads.records);
  const entries = Array.from({ length: 2000 }, (_, i) => {
    const text = JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: `p${i}` },
      spec: { nodeName: 'n'.repeat(1000) },
    });
    return new Entry(`core/pods/a/p${i}`, 1, Buffer.from(text));
  });
  let encoded = 0;
  const encode = (texts: readonly Uint8Array[]): Uint8Array[] => {
    encoded += texts.length;
    return encodeRecords(POD, texts);
  };
  const bodies: Uint8Array[][] = [[], []];
  const list = async (body: Uint8Array[]): Promise<void> => {
    const stream = {
      onDrain: () => undefined,
      end: () => undefined,
      write: (bytes: Uint8Array) => body.push(bytes) && 0,
    };
    const exchange = { method: 'GET', header: () => undefined, onAbort: () => undefined, stream: () => stream };
    const request = { exchange } as unknown as FrontRequest;
    await lists.respond(request, PODS, entries, { resourceVersion: '1' }, { ...PROTOBUF, encode }, []);
  };
  await Promise.all(bodies.map(list));
  expect(encoded).toBe(2000);
  const [one, two] = bodies.map(body => Buffer.concat(body));
  expect(one!.equals(two!)).toBe(true);
  const { value } = decodeMessage(typeOf('core.v1.PodList'), decodeEnvelope(one!).raw);
  expect((value as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)).toEqual(
    entries.map(({ name }) => name),
  );
});
