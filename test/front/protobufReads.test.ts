import { expect, test } from 'vitest';
import { FRONT_ENCODING_BYTES } from '../../core/limits.js';
import { decodeEnvelope, decodeMessage } from '../../core/schema/protobuf.js';
import { encodeRecords } from '../../core/schema/protobufList.js';
import { typeOf } from '../../core/schema/table/types.js';
import { Entry } from '../../core/threads/entry.js';
import type { Rendering } from '../../core/threads/messages.js';
import { Records } from '../../workers/front/records.js';
import { Encodings } from '../../workers/front/encodings.js';
import { type ProtobufForm, ProtobufReads } from '../../workers/front/protobufReads.js';
import type { FrontRequest } from '../../workers/front/sender.js';

const FORM: ProtobufForm = {
  records: 'object',
  key: 'v1',
  kind: 'Pod',
  listKind: 'PodList',
  apiVersion: 'v1',
  contentType: 'application/vnd.kubernetes.protobuf',
};
const POD = typeOf('core.v1.Pod');
const request = {} as FrontRequest;

const entryOf = (name: string): Entry => {
  const value = Buffer.from(name);
  return new Entry(`core/pods/a/${name}`, 1, value);
};

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
  return { encoded, reads: new ProtobufReads(new Records({ render }, new Encodings())) };
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
  const form = { ...FORM, encode: (texts: readonly Uint8Array[]) => encodeRecords(POD, texts) };
  const message = reads.message(request, entry, form) as Uint8Array;
  const { kind, raw } = decodeEnvelope(message);
  expect([kind, decodeMessage(POD, raw).value]).toMatchObject(['Pod', { metadata: { name: 'one' } }]);
  expect(reads.encodings.find([entry], form.key)).toHaveLength(1);
  expect(reads.messageOfDeleted(value, form)).toEqual(message);
  expect(encoded).toEqual([]);
});

test('an object that takes longer to encode is left to the pool', async () => {
  const { encoded, reads } = setUp();
  const long = new Entry('core/pods/a/long', 1, new Uint8Array(FRONT_ENCODING_BYTES + 1));
  const form = { ...FORM, encode: (texts: readonly Uint8Array[]) => encodeRecords(POD, texts) };
  await reads.messages(request, [long], form);
  expect(encoded).toHaveLength(1);
  expect(reads.messageOfDeleted(long.value, form)).toBeUndefined();
});
