import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FRONT_ENCODING_BYTES } from '../../core/limits.js';
import type { ApiObject } from '../../core/model/object.js';
import { namingOf } from '../../core/naming.js';
import type { Choice } from '../../core/request/negotiate.js';
import { encodeJson } from '../../core/schema/json/json.js';
import { rowTexts } from '../../core/services/tables/rowText.js';
import { type IncludeObject, partialObjectMetadataList, tableValue } from '../../core/services/tables/index.js';
import { Entry } from '../../core/threads/entries/entry.js';
import type { Rendering } from '../../core/threads/messages/messages.js';
import { EncodingCache } from '../../workers/front/forms/encodingCache.js';
import { Slices } from '../../workers/front/fairness/slices.js';
import { SharedEncodings } from '../../workers/front/forms/sharedEncodings.js';
import type { FrontRequest } from '../../workers/front/access/sender.js';
import { listForm } from '../../workers/front/forms/media.js';
import { registryOf } from '../kinds/builtIn.js';
import { decodedOnly } from '../kinds/helpers.js';
import { TypeMismatch } from '../../core/schema/decode/decode.js';
import { partly } from '../support/values.js';

const naming = namingOf('kubernetes');
const registry = registryOf('kubernetes');
const NOW = Date.parse('2024-06-01T12:00:00Z');
const KINDS = [
  ['v1', 'Pod'],
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['v1', 'Node'],
  ['v1', 'Service'],
  ['v1', 'Endpoints'],
  ['v1', 'ServiceAccount'],
  ['v1', 'PersistentVolumeClaim'],
  ['apps/v1', 'Deployment'],
  ['batch/v1', 'Job'],
  ['batch/v1', 'CronJob'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
  ['storage.k8s.io/v1', 'CSIStorageCapacity'],
] as const;

const time = fc.constantFrom(
  '2024-06-01T11:59:30Z',
  '2024-05-01T00:00:00Z',
  '2030-01-01T00:00:00Z',
  '1969-01-01T00:00:00Z',
);
/** Texts that look like members, with escapes and characters of two to four bytes. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '"}}',
    '\\',
    '"metadata":{',
    ',"managedFields":[{',
    '\u0000\u0001',
    '<&>\u2028',
    '😀é',
    '{"kind":"Pod"',
  ),
);
const texts = fc.dictionary(text, text, { maxKeys: 3 });
const managed = fc.record({
  manager: text,
  operation: fc.constant('Update'),
  fieldsV1: fc.dictionary(text, fc.constant({})),
});
const metadata = fc.record(
  {
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: fc.nat().map(String),
    creationTimestamp: time,
    deletionTimestamp: time,
    labels: texts,
    annotations: texts,
    finalizers: fc.array(text, { maxLength: 2 }),
    managedFields: fc.array(managed, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const ended = fc.record({ terminated: fc.record({ finishedAt: time, exitCode: fc.nat(2), reason: text }) });
const containerStatus = fc.record({ restartCount: fc.nat(3), ready: fc.boolean(), state: ended, lastState: ended });
const status = fc.record(
  {
    phase: text,
    startTime: time,
    completionTime: time,
    lastScheduleTime: time,
    containerStatuses: fc.array(containerStatus, { maxLength: 2 }),
    conditions: fc.array(fc.record({ type: fc.constantFrom('Ready', 'Complete'), status: fc.constant('True') })),
  },
  { requiredKeys: [] },
);
const contents = fc.record(
  { spec: fc.jsonValue(), status: fc.oneof(status, status, fc.jsonValue()), data: texts, type: text },
  { requiredKeys: [] },
);
const samples = fc.array(fc.tuple(metadata, contents), { minLength: 1, maxLength: 4 });

/** An exchange that collects the answer. */
function fakeExchange() {
  const sent: Uint8Array[] = [];
  const stream = {
    onDrain: () => undefined,
    end: () => undefined,
    abort: () => undefined,
    write: (bytes: Uint8Array) => {
      sent.push(bytes);
      return 0;
    },
  };
  const exchange = {
    method: 'GET',
    query: '',
    aborted: false,
    header: () => undefined,
    onAbort: () => undefined,
    respond: (_status: number, _headers: unknown, pieces: readonly Uint8Array[]) => void sent.push(...pieces),
    stream: () => stream,
  };
  return { exchange, body: () => Buffer.concat(sent).toString() };
}

/** A form of lists of a kind, with the number of objects that were made into rows. */
function setUp([apiVersion, kind]: (typeof KINDS)[number], form: Choice['form'], query: string, limit?: number) {
  const resource = registry.byKind(apiVersion, kind)!;
  let rendered = 0;
  const render = async (_request: FrontRequest, { objects }: Rendering) => {
    rendered += objects.length;
    return { id: 0, is: 'rendered' as const, pieces: rowTexts(resource, objects) };
  };
  const choice: Choice = { form, version: 'v1', media: 'json', pretty: undefined, contentType: 'application/json' };
  const route = { query: new Map([['includeObject', [query]]]) };
  const clock = { now: NOW };
  const answer = async (values: readonly Uint8Array[], entries = values.map(entryOf)): Promise<string> => {
    const sent = fakeExchange();
    const request = partly<FrontRequest>({ exchange: sent.exchange, route });
    const parts = { naming, encodings, pool: { render, now: () => clock.now } };
    const form = listForm({ choice, request, resource }, entries, parts);
    await form.respond(request, { headers: [], entries, metadata: LIST });
    return sent.body();
  };
  const encodings = new SharedEncodings(
    { render, renderWhenFree: async () => undefined },
    new EncodingCache(limit),
    new Slices(),
  );
  return { resource, clock, answer, rendered: () => rendered };
}

const LIST = { resourceVersion: '7', continue: 'x', remainingItemCount: 3 };
const entryOf = (value: Uint8Array): Entry => {
  // Objects lie in larger buffers.
  const buffer = Buffer.concat([Buffer.from('{"x":'), value, Buffer.from('}')]);
  return new Entry('core/pods/a/b', 1, buffer.subarray(5, 5 + value.length));
};

const valuesOf = (
  [apiVersion, kind]: (typeof KINDS)[number],
  objects: readonly (readonly [object, object])[],
): Uint8Array[] =>
  objects.map(([meta, rest]) => Buffer.from(encodeJson({ kind, apiVersion, metadata: meta, ...rest })));

const parsed = (values: readonly Uint8Array[]): ApiObject[] =>
  values.map(value => JSON.parse(Buffer.from(value).toString()) as ApiObject);

const encoded = (object: object): Uint8Array => Buffer.from(encodeJson(object));

/** A stored object as the decoder makes it, with metadata as given; without other members if these have wrong types. */
function decodedOrEmpty(storageName: string, value: Uint8Array): ApiObject {
  const given = JSON.parse(Buffer.from(value).toString()) as ApiObject;
  const { kind, apiVersion, metadata: meta } = given;
  const bare = { kind, apiVersion, metadata: {} } as ApiObject;
  try {
    return { ...decodedOnly(storageName, { ...given, ...bare }), kind, apiVersion, metadata: meta };
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    return { ...decodedOnly(storageName, bare), kind, apiVersion, metadata: meta };
  }
}

test('lists of metadata are the same as those made of parsed objects', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...KINDS), samples, async (kind, objects) => {
      const values = valuesOf(kind, objects);
      const { answer } = setUp(kind, 'partialList', '');
      const expected = partialObjectMetadataList(parsed(values), LIST, 'v1', naming);
      expect(await answer(values)).toBe(`${encodeJson(expected)}\n`);
    }),
  );
});

test('Tables are the same as those made of parsed objects, with ages at the time of the request', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...KINDS),
      samples,
      fc.constantFrom<IncludeObject>('None', 'Metadata', 'Object'),
      async (kind, objects, includeObject) => {
        const { resource, clock, answer } = setUp(kind, 'table', includeObject);
        const values = valuesOf(kind, objects).map(value => encoded(decodedOrEmpty(resource.storageName, value)));
        const entries = values.map(entryOf);
        for (const now of [NOW, NOW + 3_600_000]) {
          clock.now = now;
          const expected = tableValue({
            columns: resource.strategy.columns,
            conditions: resource.strategy.rowConditions,
            objects: parsed(values),
            listMetadata: LIST,
            includeObject,
            now,
            tableVersion: 'v1',
            withHeader: true,
            naming,
          });
          expect(await answer(values, entries)).toBe(`${encodeJson(expected)}\n`);
        }
      },
    ),
  );
});

/** Objects whose rows the front end makes, and a hundred large ones. */
const mixed = (): Entry[] =>
  Array.from({ length: 600 }, (_, i) => {
    const data = { a: 'x'.repeat(i % 6 === 5 ? FRONT_ENCODING_BYTES : 1000) };
    return valuesOf(KINDS[1], [[{ name: `n${i}` }, { data }]]).map(entryOf);
  }).flat();

test('rows are made once for each object, by the pool for large objects', async () => {
  const entries = mixed();
  const { answer, rendered } = setUp(KINDS[1], 'table', 'None');
  const first = await answer([], entries);
  const { rows } = JSON.parse(first) as { rows: object[] };
  expect(rows).toEqual(entries.map((_, i) => ({ cells: [`n${i}`, 1, '<unknown>'], object: null })));
  expect(await answer([], entries)).toBe(first);
  expect(rendered()).toBe(100);
});

test('Tables are complete if no row can be cached', async () => {
  const entries = mixed();
  const { answer, rendered } = setUp(KINDS[1], 'table', 'None', 0);
  expect(await answer([], entries)).toBe(await answer([], entries));
  expect(rendered()).toBe(200);
});
