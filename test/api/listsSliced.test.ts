import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RENDER_SLICE_BYTES } from '../../core/limits.js';
import type { Json } from '../../core/model/object.js';
import { encodeJson } from '../../core/schema/json/json.js';
import { encodeEnvelope, encodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { typeOf } from '../../core/schema/table/types.js';
import { decodeYaml } from '../../core/schema/yaml/yaml.js';
import { encodeYaml } from '../../core/schema/yaml/yamlText.js';
import { Api, type Loose, listOf, rowsIn } from './support.js';
import { getBytes, secret, valued } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIALS = ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const COUNT = 20;
/** The size of an object in bytes, chosen so that a slice has several objects and the last slice is not full. */
const BYTES = RENDER_SLICE_BYTES / 6;

/** Objects whose texts need care: quotes, several lines, characters that JSON and YAML escape. */
const annotated = (name: string): object => ({
  ...secret(name, name.repeat(BYTES / name.length)),
  metadata: { name, annotations: { text: `a: "b"\n- <c> & ${name}\n`, empty: '', like: 'items: []' } },
});

async function fill(api: Api, path: string): Promise<void> {
  const names = Array.from({ length: COUNT }, (_, i) => `s${String(i).padStart(4, '0')}`);
  const createNext = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await api.made(path, annotated(name));
  };
  await Promise.all(Array.from({ length: 8 }, createNext));
}

const partialOf = (object: Loose): object => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object['metadata'],
});

describe('lists of several slices', () => {
  let api: Api;
  let path: string;
  let list: { readonly metadata: Json; readonly items: Loose[] };
  let partial: object;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('sliced')}/secrets`;
    await fill(api, path);
    await read();
  });
  afterAll(() => api.close());

  async function read(): Promise<void> {
    list = JSON.parse((await api.get(path)).text) as typeof list;
    partial = {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: list.metadata,
      items: list.items.map(partialOf),
    };
  }

  /** Compares answers with the list, and repeats that if the revision has changed: controllers write after a start. */
  async function compareAtOneRevision(compare: () => Promise<void>): Promise<void> {
    for (;;) {
      const { metadata } = list;
      try {
        await compare();
        return;
      } catch (error) {
        await read();
        if (isDeepStrictEqual(list.metadata, metadata)) throw error;
      }
    }
  }

  const ask = async (accept: string, query = '', encoding?: string) => {
    const headers = { accept, ...(encoding ? { 'accept-encoding': encoding } : {}) };
    return await getBytes(api.server, path + query, headers);
  };
  const textOf = async (accept: string, query?: string) => (await ask(accept, query)).bytes.toString();

  test('indented JSON, YAML and metadata are the text of the whole list [R178]', async () => {
    await compareAtOneRevision(async () => {
      expect(await textOf(JSON_TYPE, '?pretty=1')).toBe(encodeJson(list, true));
      expect(await textOf('application/yaml')).toBe(encodeYaml(list));
      expect(await textOf(JSON_TYPE + PARTIALS)).toBe(`${encodeJson(partial)}\n`);
      expect(await textOf(`application/yaml${PARTIALS}`)).toBe(encodeYaml(partial));
      expect(await textOf(JSON_TYPE + PARTIALS, '?pretty=1')).toBe(encodeJson(partial, true));
    });
  });

  test.each(['', '?pretty=1'])('a Table has its columns and a row for each object (%s)', async query => {
    const text = await textOf(TABLE, query);
    const table = JSON.parse(text) as Loose;
    expect(rowsIn(table).map(row => row.object)).toEqual(list.items.map(partialOf));
    expect(listOf(table['columnDefinitions']).length).toBe(4);
    expect(text).toBe(query ? encodeJson(table, true) : `${encodeJson(table)}\n`);
  });

  test('a row equals the row in the Table of its object', async () => {
    // The last cell is an age, which may change between two requests.
    const rowsOf = (text: string) =>
      (JSON.parse(text) as { rows: { cells: Json[] }[] }).rows.map(row => ({ ...row, cells: row.cells.slice(0, -1) }));
    const rows = rowsOf(await textOf(TABLE));
    for (const at of [0, COUNT - 1]) {
      const alone = (await getBytes(api.server, `${path}/${list.items[at]!['metadata']!['name']}`, { accept: TABLE }))
        .bytes;
      expect(rows[at]).toEqual(rowsOf(alone.toString())[0]);
    }
    const without = rowsOf(await textOf(TABLE, '?includeObject=None'));
    expect(without).toEqual(rows.map(row => ({ ...row, object: null })));
  });

  test('a Table in YAML has the same content as in JSON', async () => {
    const yaml = await ask(TABLE.replace('json', 'yaml'));
    const table = JSON.parse(await textOf(TABLE)) as Loose;
    expect((decodeYaml(yaml.bytes) as Loose)['columnDefinitions']).toEqual(table['columnDefinitions']);
    expect((decodeYaml(yaml.bytes) as unknown as { rows: unknown[] }).rows.length).toBe(COUNT);
  });

  test('protobuf lists equal the whole list, the first time and from the cache', async () => {
    await compareAtOneRevision(async () => {
      const whole = encodeEnvelope('v1', 'SecretList', encodeMessage(typeOf('core.v1.SecretList'), list as Json));
      const metadata = encodeMessage(typeOf('meta.v1.PartialObjectMetadataList'), partial as Json);
      const ofMetadata = encodeEnvelope('meta.k8s.io/v1', 'PartialObjectMetadataList', metadata);
      for (let i = 0; i < 2; i++) {
        const answer = await ask(PROTOBUF);
        expect(answer.bytes.equals(whole)).toBe(true);
        expect(answer.headers['content-length']).toBe(String(whole.length));
        expect((await ask(PROTOBUF + PARTIALS)).bytes.equals(ofMetadata)).toBe(true);
      }
    });
  });

  test.each(['application/yaml', PROTOBUF])('compressed %s has the same content', async accept => {
    const packed = await ask(accept, '', 'gzip');
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const plain = await ask(accept);
    expect(gunzipSync(packed.bytes).length).toBe(plain.bytes.length);
  });

  test('a change is visible in the next protobuf list and get', async () => {
    await api.patch(`${path}/s0003`, MERGE, valued('changed'));
    await compareAtOneRevision(async () => {
      const after = JSON.parse((await api.get(path)).text) as Json;
      const whole = encodeEnvelope('v1', 'SecretList', encodeMessage(typeOf('core.v1.SecretList'), after));
      expect((await ask(PROTOBUF)).bytes.equals(whole)).toBe(true);
    });
    const object = JSON.parse((await api.get(`${path}/s0003`)).text) as Json;
    const one = await getBytes(api.server, `${path}/s0003`, { accept: PROTOBUF });
    expect(one.bytes.equals(encodeEnvelope('v1', 'Secret', encodeMessage(typeOf('core.v1.Secret'), object)))).toBe(
      true,
    );
  });

  test('an Accept header with the metadata form of a single object is refused for a list', async () => {
    const { status, body } = await api.get(path, { accept: PARTIALS.replace('List', '').replace(';', `${PROTOBUF};`) });
    expect([status, body]).toMatchObject([406, { reason: 'NotAcceptable' }]);
  });

  test.each(['application/yaml', PROTOBUF, JSON_TYPE])(
    'a deletecollection answers with all objects as %s',
    async accept => {
      const other = `${await api.namespace(`deleted-${accept.replace(/\W/g, '')}`)}/secrets`;
      await fill(api, other);
      const before = JSON.parse((await api.get(other)).text) as { items: Loose[] };
      const answer = await getBytes(api.server, other, { accept }, 'DELETE');
      expect(answer.status).toBe(200);
      if (accept === PROTOBUF) expect(answer.bytes.length).toBeGreaterThan(COUNT * 100);
      else expect((decodeYaml(answer.bytes) as unknown as typeof before).items).toEqual(before.items);
      expect((JSON.parse((await api.get(other)).text) as typeof before).items).toEqual([]);
    },
  );
});
