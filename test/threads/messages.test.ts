import { expect, test } from 'vitest';
import {
  decodeWritten,
  encodeWritten,
  packJobs,
  packLate,
  packOutcomes,
  type Packed,
  unpackJobs,
  unpackLate,
  unpackOutcomes,
} from '../../core/threads/messages/jobs.js';
import type { Grant, Job, JobOutcome } from '../../core/threads/messages/messages.js';
import { partly } from '../support/values.js';

/** A view in the middle of a larger buffer, like values of the store. */
const bytes = (text: string): Uint8Array => new TextEncoder().encode(`before ${text} behind`).subarray(7, -7);

const job = (given: Partial<Job>): Job => ({
  id: 1,
  method: 'GET',
  path: '/',
  query: '',
  accept: '',
  contentType: '',
  userAgent: '',
  ifMatch: '',
  granted: false,
  ...given,
});

const outcomes: (JobOutcome | null)[] = [
  { id: 1, is: 'granted' },
  null,
  { id: 2, is: 'respond', status: 200, headers: [['a', 'b']], body: bytes('an answer') },
  {
    id: 6,
    is: 'respond',
    status: 200,
    headers: [],
    body: bytes('a part'),
    rest: { between: bytes(','), tail: bytes(']'), mayFail: false },
  },
  { id: 3, is: 'rendered', pieces: [bytes('one'), bytes('two')] },
  { id: 4, is: 'proposed', status: 201, headers: [], key: 'core/pods/p' },
  { id: 5, is: 'proposed', status: 201, headers: [], key: 'core/pods/q', body: bytes('with gaps'), gaps: [3] },
  {
    id: 7,
    is: 'respond',
    status: 403,
    headers: [['a', 'b']],
    body: bytes('a refusal'),
    auditId: 'x',
    trail: { auditId: 'x', steps: '[]', refusal: { reason: 'Forbidden', message: 'no', causes: [] } },
  },
  { is: 'failed', message: 'it failed' },
];

const late = outcomes.flatMap((outcome, at) => (outcome ? [{ batch: 9, at, outcome }] : []));

const jobs = [
  job({ body: bytes('a body'), current: { bytes: bytes('an object'), revision: 7 } }),
  job({
    id: 2,
    collection: true,
    trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' },
  }),
  job({
    id: 3,
    render: { objects: [bytes('x'), bytes('y')], status: 200, part: true, records: 'partial', packed: true },
  }),
];

/** Values with their bytes as text. */
const asText = (message: unknown): unknown =>
  JSON.parse(
    JSON.stringify(message, (_, value) =>
      ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value,
    ),
  );

/** The message as the other thread receives it. */
const receive = <T>([packed, transfer]: Packed<T>): T => structuredClone(packed, { transfer });

test('jobs are received as they were sent', () => {
  expect(asText(unpackJobs(receive(packJobs(jobs))))).toEqual(asText(jobs));
});

test('objects in shared memory are not copied', () => {
  const shared = [new SharedArrayBuffer(8), new SharedArrayBuffer(8)].map(memory => new Uint8Array(memory));
  for (const [i, memory] of shared.entries()) memory.set(Buffer.from(`shared ${i}`));
  const [first, second] = shared as [Uint8Array, Uint8Array];
  const objects = [first.subarray(2, 5), bytes('own'), second.subarray(7), bytes('other'), first.subarray(0, 2)];
  const packed = packJobs([job({ render: { objects, status: 200 } })]);
  expect(packed[1].map(({ byteLength }) => byteLength)).toEqual(['ownother'.length]);
  const [received] = unpackJobs(receive(packed));
  expect(asText(received!.render!.objects)).toEqual(['are', 'own', '1', 'other', 'sh']);
  first.set(Buffer.from('XY'));
  expect(asText(received!.render!.objects[4])).toBe('XY');
});

test('outcomes are received as they were sent', () => {
  expect(asText(unpackOutcomes(receive(packOutcomes(outcomes))))).toEqual(asText(outcomes));
});

test('an answer that was rendered into its own buffer is not copied', () => {
  const { buffer } = new Uint8Array(Buffer.from('onetwo'));
  const [one, two] = [new Uint8Array(buffer, 0, 3), new Uint8Array(buffer, 3)];
  const rendered = (...pieces: Uint8Array[]): JobOutcome => ({ id: 3, is: 'rendered', pieces });
  expect(packOutcomes([rendered(one, two)])[1]).toEqual([buffer]);
  for (const other of [[two, one], [one], [one, bytes('two')]]) {
    const packed = packOutcomes([rendered(...other)]);
    expect(packed[1]).not.toContain(buffer);
    expect(asText(unpackOutcomes(receive(packed)))).toEqual(asText([rendered(...other)]));
  }
  const expected = asText([rendered(one, two)]);
  expect(asText(unpackOutcomes(receive(packOutcomes([rendered(one, two)]))))).toEqual(expected);
});

test('late outcomes are received as they were sent', () => {
  expect(asText(unpackLate(receive(packLate(late))))).toEqual(asText(late));
});

test('outcomes of proposals are read as they were written; others, and those with a grant, are not written', () => {
  const proposed = outcomes.flatMap(one => (one?.is === 'proposed' ? [one] : []));
  const trail = { auditId: 'x', steps: '[]', unseenChanges: undefined };
  const all = [...proposed, { ...proposed[0]!, annotations: { 'a/b': 'c' }, auditId: 'x', trail }];
  for (const outcome of all) {
    const body = outcome.body && Buffer.from(outcome.body);
    const read = decodeWritten(encodeWritten(2 ** 40, outcome, 1.5)!);
    expect(read).toEqual({ batch: 2 ** 40, ms: 1.5, outcome: { ...outcome, body } });
  }
  const grant = partly<Grant>({ user: { name: 'a', uid: '', groups: [], extra: new Map() } });
  for (const other of [...outcomes.filter(one => one && one.is !== 'proposed'), { ...proposed[0]!, grant }])
    expect(encodeWritten(1, other!, 1)).toBeUndefined();
});

test('the bytes of a message are in one transferred buffer, without those around them', () => {
  for (const [, transfer] of [packJobs(jobs), packOutcomes(outcomes), packLate(late)]) {
    expect(transfer).toHaveLength(1);
    expect(Buffer.from(transfer[0]!).toString()).not.toContain('before');
  }
});

test('messages without bytes transfer nothing', () => {
  expect(packJobs([job({})])[1]).toEqual([]);
  expect(packOutcomes([null, { id: 1, is: 'granted' }])[1]).toEqual([]);
});
