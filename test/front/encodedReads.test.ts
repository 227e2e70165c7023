import { expect, test, vi } from 'vitest';
import { FRONT_ENCODING_BYTES } from '../../core/limits.js';
import { namingOf } from '../../core/naming.js';
import type { MediaName } from '../../core/request/negotiate.js';
import { decodeEnvelope, decodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { decodeCbor } from '../../core/schema/cbor/cborDecode.js';
import { typeOf } from '../../core/schema/table/types.js';
import { Entry } from '../../core/threads/entries/entry.js';
import type { Rendering } from '../../core/threads/messages/messages.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { SharedEncodings } from '../../workers/front/forms/sharedEncodings.js';
import { EncodingCache } from '../../workers/front/forms/encodingCache.js';
import { EncodedReads } from '../../workers/front/forms/encodedReads.js';
import { listForm, MEDIA } from '../../workers/front/forms/media.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { registryOf } from '../kinds/builtIn.js';
import { partly } from '../support/values.js';

const PODS = registryOf('kubernetes').byKind('v1', 'Pod')!;
const naming = namingOf('kubernetes');
const request = { route: {} } as FrontRequest;
const asked = (media: MediaName, by = request) => ({
  request: by,
  resource: PODS,
  choice: { form: 'object', version: 'v1', pretty: undefined, contentType: '', media } as const,
});
const PROTOBUF = MEDIA.protobuf.object(asked('protobuf'), naming)!;
/** A form that only the pool can encode. */
const FORM = { ...PROTOBUF, encode: undefined };
const POD = typeOf('core.v1.Pod');

const entryOf = (name: string): Entry => {
  const value = Buffer.from(name);
  return new Entry(`core/pods/a/${name}`, 1, value);
};

/** Encodes nothing, like a pool without a free thread. */
const nothing = async (): Promise<undefined> => undefined;

/** Reads with a pool that encodes an object as its own bytes, and counts the objects. */
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
    reads: new EncodedReads(
      new SharedEncodings({ render, renderWhenFree: nothing }, new EncodingCache(), new Slices()),
    ),
  };
}

test('watches, gets and lists share the encodings of an object, each in its own envelope', async () => {
  const { encoded, reads } = setUp();
  const [one, two, three] = ['one', 'two', 'three'].map(entryOf) as [Entry, Entry, Entry];
  await reads.encodings.find(request, [one, two], FORM);
  const messages = await reads.messages(request, [two, three, one], FORM);
  expect(encoded).toEqual(['one', 'two', 'three']);
  const shown = messages.map(message => decodeEnvelope(message));
  expect(shown.map(({ raw }) => Buffer.from(raw).toString())).toEqual(['two', 'three', 'one']);
  expect(shown[1]).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
  await reads.messages(request, [three], FORM);
  await reads.encodings.find(request, [one, two, three], FORM);
  expect(encoded).toHaveLength(3);
});

test('a short object that is stored in the version of the request is encoded by the front end, at once and only once', () => {
  const { encoded, reads } = setUp();
  const value = Buffer.from('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"one"}}');
  const entry = new Entry('core/pods/a/one', 1, value);
  const message = reads.message(request, entry, PROTOBUF) as Uint8Array;
  const { kind, raw } = decodeEnvelope(message);
  expect([kind, decodeMessage(POD, raw).value]).toMatchObject(['Pod', { metadata: { name: 'one' } }]);
  expect(reads.encodings.cache.find([entry], PROTOBUF.key)).toHaveLength(1);
  expect(reads.messageOfDeleted(value, PROTOBUF)).toEqual(message);
  expect(encoded).toEqual([]);
});

test('an object that takes longer to encode is encoded by the pool', async () => {
  const { encoded, reads } = setUp();
  const long = new Entry('core/pods/a/long', 1, new Uint8Array(FRONT_ENCODING_BYTES + 1));
  await reads.messages(request, [long], PROTOBUF);
  expect(encoded).toHaveLength(1);
  expect(reads.messageOfDeleted(long.value, PROTOBUF)).toBeUndefined();
});

/** The body of the answer to a list of pods, which the front end makes itself. */
async function listed(media: MediaName, entries: readonly Entry[], encodings: SharedEncodings): Promise<Buffer> {
  const body: Uint8Array[] = [];
  const stream = {
    onDrain: () => undefined,
    end: () => undefined,
    abort: () => undefined,
    write: (bytes: Uint8Array) => body.push(bytes) && 0,
  };
  const exchange = {
    method: 'GET',
    header: () => undefined,
    onAbort: () => undefined,
    stream: () => stream,
    respond: (_status: number, _headers: unknown, pieces: readonly Uint8Array[]) => void body.push(...pieces),
  };
  const by = partly<FrontRequest>({ exchange, route: {} });
  const pool = { render: () => Promise.reject(new Error('not to be asked')), now: () => 0 };
  const form = listForm(asked(media, by), entries, { naming, encodings, pool });
  await form.respond(by, { headers: [], entries, metadata: { resourceVersion: '7' } });
  return Buffer.concat(body);
}

/** Shared encodings that are all made by the front end, and their number. */
function setUpHere() {
  const cache = new EncodingCache();
  const add = vi.spyOn(cache, 'add');
  const render = () => Promise.reject(new Error('not to be asked'));
  return {
    encodings: new SharedEncodings({ render, renderWhenFree: nothing }, cache, new Slices()),
    made: () => add.mock.calls.reduce((sum, [entries]) => sum + entries.length, 0),
  };
}

test('in CBOR, gets, lists and watches share the encoding of an object', async () => {
  const form = MEDIA.cbor.object(asked('cbor'), naming)!;
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'one', labels: { a: '"\u00e9' } },
    spec: { n: 1.5 },
  };
  const text = Buffer.from(JSON.stringify(object));
  const entry = new Entry('core/pods/a/one', 1, text);
  const { encodings, made } = setUpHere();
  const reads = new EncodedReads(encodings);
  const message = reads.message(request, entry, form) as Uint8Array;
  expect(decodeCbor(message)).toEqual(object);
  expect(decodeCbor(form.toEvent('ADDED', message))).toEqual({ type: 'ADDED', object });
  expect(await reads.messages(request, [entry], { ...form, encode: undefined })).toEqual([message]);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  expect(decodeCbor(await listed('cbor', [entry, entry], encodings))).toEqual({
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    items: [item, item],
  });
  expect(made()).toBe(1);
});

test('lists at the same time encode each object once', async () => {
  const { encodings, made } = setUpHere();
  const entries = Array.from({ length: 2000 }, (_, i) => {
    const text = JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: `p${i}` },
      spec: { nodeName: 'n'.repeat(1000) },
    });
    return new Entry(`core/pods/a/p${i}`, 1, Buffer.from(text));
  });
  const [one, two] = await Promise.all([1, 2].map(() => listed('protobuf', entries, encodings)));
  expect(made()).toBe(2000);
  expect(one!.equals(two!)).toBe(true);
  const { value } = decodeMessage(typeOf('core.v1.PodList'), decodeEnvelope(one!).raw);
  expect((value as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)).toEqual(
    entries.map(({ name }) => name),
  );
});
