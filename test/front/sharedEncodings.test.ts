import { expect, test } from 'vitest';
import { ENCODINGS_WHOLE_BYTES } from '../../core/limits.js';
import { recordLength, unpackRecords } from '../../core/schema/packedEncodings.js';
import { encodeRecords } from '../../core/schema/protobuf/protobufList.js';
import { typeOf } from '../../core/schema/table/types.js';
import { Entry } from '../../core/threads/entries/entry.js';
import type { JobResult, Rendering } from '../../core/threads/messages/messages.js';
import { EncodingCache } from '../../workers/front/forms/encodingCache.js';
import { type EncodingForm, SharedEncodings } from '../../workers/front/forms/sharedEncodings.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { partly } from '../support/values.js';

const POD = typeOf('core.v1.Pod');

/** New entries each time, because encodings are cached with their entries. */
const makeEntries = (): Entry[] =>
  Array.from({ length: 500 }, (_, i) => {
    const value = { kind: 'Pod', apiVersion: 'v1', metadata: { name: `p${i}` }, spec: { nodeName: 'n'.repeat(1000) } };
    return new Entry(`core/pods/a/p${i}`, 1, Buffer.from(JSON.stringify(value)));
  });
const EXPECTED = encodeRecords(
  POD,
  makeEntries().map(({ value }) => value),
);
const joined = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('hex');
const nameIn = (text: Uint8Array): string => /"name":"(\w+)"/.exec(Buffer.from(text).toString())![1]!;

/** Shared encodings whose pool answers with `answer`, and the names of the objects that each side has encoded. */
function setUp(answer: (objects: readonly Uint8Array[]) => JobResult, limit?: number) {
  const here: string[] = [];
  const inPool: string[] = [];
  const renderWhenFree = async (_request: FrontRequest, take: () => Rendering | undefined) => {
    const rendering = take();
    await new Promise(resolve => setImmediate(resolve));
    if (!rendering) return undefined;
    inPool.push(...rendering.objects.map(nameIn));
    return answer(rendering.objects);
  };
  const render = () => Promise.reject(new Error('not to be asked'));
  const form: EncodingForm = {
    records: 'object',
    key: 'v1',
    encode(texts) {
      here.push(...texts.map(nameIn));
      return encodeRecords(POD, texts);
    },
  };
  const encodings = new EncodingCache(limit);
  const entries = makeEntries();
  return {
    entries,
    here,
    inPool,
    form,
    encodings,
    records: new SharedEncodings({ render, renderWhenFree }, encodings, new Slices()),
  };
}

const request = (aborted = false): FrontRequest => partly<FrontRequest>({ exchange: { aborted } });
const encode = (objects: readonly Uint8Array[]): JobResult => ({
  id: 0,
  is: 'rendered',
  pieces: encodeRecords(POD, objects),
});

test('many objects are encoded by front end and pool together, each once and from both ends', async () => {
  const { entries, here, inPool, form, encodings, records } = setUp(encode);
  await records.measure(request(), entries, form);
  expect(joined(encodings.find(entries, form.key)!)).toBe(joined(EXPECTED));
  expect([...here, ...inPool].sort()).toEqual(entries.map(({ name }) => name).sort());
  expect([here[0], inPool.includes('p499')]).toEqual(['p0', true]);
});

test('while the first encodings of a list are used, the pool encodes missing ones from the end of the list', async () => {
  const { entries, here, inPool, form, encodings, records } = setUp(encode);
  await records.make(request(), entries.slice(0, 100), form);
  records.makeAhead(request(), entries, form);
  while (!encodings.find(entries.slice(400), form.key)) await new Promise(resolve => setImmediate(resolve));
  expect(joined(await records.make(request(), entries.slice(100), form))).toBe(joined(EXPECTED.slice(100)));
  expect([here.length < 400, inPool.includes('p0')]).toEqual([true, false]);
});

test('when the cache is large, encodings are stored without the parts that equal their objects, and returned whole', async () => {
  const packed = { lengthOf: recordLength, unpack: unpackRecords };
  const asked: unknown[] = [];
  const entries = makeEntries();
  const encodings = new EncodingCache();
  const render = async (_request: FrontRequest, { objects, packed: isPacked }: Rendering): Promise<JobResult> => {
    asked.push(isPacked);
    return { id: 0, is: 'rendered', pieces: encodeRecords(POD, objects, isPacked) };
  };
  const records = new SharedEncodings({ render, renderWhenFree: async () => undefined }, encodings, new Slices());
  const here: EncodingForm = {
    records: 'object',
    key: 'v1',
    packed,
    encode: (texts, isPacked) => encodeRecords(POD, texts, isPacked),
  };
  const find = async (from: number, to: number, form: EncodingForm) =>
    joined(await records.find(request(), entries.slice(from, to), form));
  expect(await find(0, 100, here)).toBe(joined(EXPECTED.slice(0, 100)));
  const bytes = (from: number, to: number) => joined(EXPECTED.slice(from, to)).length / 2;
  expect(encodings.bytes).toBe(bytes(0, 100));
  encodings.add([new Entry('core/pods/a/other', 1, new Uint8Array(1))], 'v1', [new Uint8Array(ENCODINGS_WHOLE_BYTES)]);
  const before = encodings.bytes;
  expect(await find(100, 200, here)).toBe(joined(EXPECTED.slice(100, 200)));
  expect(await find(200, 300, { ...here, encode: undefined })).toBe(joined(EXPECTED.slice(200, 300)));
  expect(asked).toEqual([true]);
  expect(encodings.bytes - before).toBeLessThan(bytes(100, 300) / 2);
  expect(await find(50, 250, here)).toBe(joined(EXPECTED.slice(50, 250)));
  const each = await records.makeEach(request(), entries.slice(0, 3), here);
  expect(each.map(record => joined([record]))).toEqual(EXPECTED.slice(0, 3).map(record => joined([record])));
});

test('nothing is encoded ahead that would not be cached', async () => {
  const { entries, inPool, form, records } = setUp(encode, 1000);
  records.makeAhead(request(), entries, form);
  for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve));
  expect(inPool.length).toBeLessThan(entries.length / 2);
});

test('objects that the pool fails to encode are encoded by the front end', async () => {
  const { entries, here, inPool, form, encodings, records } = setUp(() => {
    throw new Error('the thread has ended');
  });
  await records.measure(request(), entries, form);
  expect(joined(encodings.find(entries, form.key)!)).toBe(joined(EXPECTED));
  expect([here.length, inPool.length > 0]).toEqual([entries.length, true]);
});

test('encoding stops when the client has disconnected, or an object cannot be encoded', async () => {
  const gone = setUp(encode);
  await gone.records.measure(request(true), gone.entries, gone.form);
  expect([...gone.here, ...gone.inPool]).toEqual([]);
  const { entries, inPool, form, records } = setUp(encode);
  const fail = (): never => {
    throw new Error('cannot be encoded');
  };
  await expect(records.measure(request(), entries, { ...form, encode: fail })).rejects.toThrow('cannot be encoded');
  const before = inPool.length;
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  expect(inPool.length - before).toBeLessThan(entries.length / 2);
});
