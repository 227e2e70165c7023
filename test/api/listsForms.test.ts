import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GZIP_BYTES } from '../../core/limits.js';
import { Api, type Loose, namesIn, rowsIn } from './support.js';
import { getBytes, metadataOf, openWatch, secret, valued } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

describe('forms of lists and watches', () => {
  let api: Api;
  let small: string;
  let big: string;
  beforeAll(async () => {
    api = await Api.shared();
    small = `${await api.namespace('small')}/secrets`;
    big = `${await api.namespace('big')}/secrets`;
    for (const name of ['a', 'b']) await api.made(small, secret(name, name));
    for (let i = 0; i < 6; i++) await api.made(big, secret(`s${i}`, `${i}`.repeat(i === 5 ? GZIP_BYTES : 20_000)));
  });
  afterAll(() => api.close());

  describe('gzip [R178 R253]', () => {
    const ask = (path: string, encoding?: string, accept = 'application/json') =>
      getBytes(api.server, path, { accept, ...(encoding === undefined ? {} : { 'accept-encoding': encoding }) });

    test.each([
      ['a list', '', 'application/json'],
      ['an object', '/s5', 'application/json'],
      ['a list in YAML', '', 'application/yaml'],
      ['a list in protobuf', '', 'application/vnd.kubernetes.protobuf'],
      ['a page of the past', '?limit=5', 'application/json'],
    ])(
      '%s of 128 KiB or more is compressed for clients that accept it, with the same content',
      async (_what, query, accept) => {
        const isPage = query.includes('limit');
        const plainly = () => ask(`${big}${query}`, undefined, accept);
        let plain = await plainly();
        expect(plain.headers['content-encoding']).toBeUndefined();
        for (const encoding of ['gzip', 'br, gzip', 'deflate,gzip;q=0.5', 'GZIP']) {
          let packed = await ask(`${big}${query}`, encoding, accept);
          // Controllers write after the start of the server, which changes the revision of a list.
          for (let next = await plainly(); !isPage && !next.bytes.equals(plain.bytes); next = await plainly()) {
            plain = next;
            packed = await ask(`${big}${query}`, encoding, accept);
          }
          expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
          expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
          expect(packed.bytes.length).toBeLessThan(plain.bytes.length);
          if (!isPage) expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
          else expect(namesIn(JSON.parse(gunzipSync(packed.bytes).toString()) as Loose)).toHaveLength(5);
        }
      },
    );

    test.each([undefined, 'identity', 'br', 'deflate', 'gzip;q=0', 'gzipped'])(
      'a client that accepts %s gets an uncompressed answer',
      async encoding => {
        expect((await ask(big, encoding)).headers['content-encoding']).toBeUndefined();
      },
    );

    test('small answers, errors, watches and answers to writes are never compressed', async () => {
      expect((await ask(small, 'gzip')).headers['content-encoding']).toBeUndefined();
      expect((await ask(`${big}/absent`, 'gzip')).headers['content-encoding']).toBeUndefined();
      expect((await ask(`${big}?watch=1&timeoutSeconds=1`, 'gzip')).headers['content-encoding']).toBeUndefined();
      const patch = await api.patch(`${big}/s5`, MERGE, valued('5'.repeat(GZIP_BYTES)), {
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(patch.headers['content-encoding']).toBeUndefined();
    });
  });

  test('the cells of a Table are those of the stored object, whatever the version of the request', async () => {
    const metric = (name: string, target: object) => ({ type: 'Resource', resource: { name, target } });
    const autoscalers = '/namespaces/small/horizontalpodautoscalers';
    await api.made(`/apis/autoscaling/v2${autoscalers}`, {
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        metrics: [
          metric('cpu', { type: 'Utilization', averageUtilization: 80 }),
          metric('memory', { type: 'AverageValue', averageValue: '1Gi' }),
        ],
      },
    });
    const { body } = await api.get(`/apis/autoscaling/v1${autoscalers}`, { accept: TABLE });
    expect(rowsIn(body)[0]!.cells[2]).toBe('cpu: <unknown>/80%, memory: <unknown>/1Gi');
  });

  test('a watch as Tables has columns only in the first event', async () => {
    const watch = await openWatch(api.server, `${small}?watch=1`, TABLE);
    const [a, b] = [await watch.next(), await watch.next()];
    expect([a, b].map(event => [event!.type, event!.object['kind']])).toEqual([
      ['ADDED', 'Table'],
      ['ADDED', 'Table'],
    ]);
    const columns = a!.object['columnDefinitions'] as unknown as { name: string }[];
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Type', 'Data', 'Age']);
    expect(b!.object['columnDefinitions']).toBeNull();
    await api.patch(`${small}/a`, MERGE, valued('changed'));
    const change = (await watch.next())!;
    const rows = rowsIn(change.object);
    expect([change.type, rows[0]!.cells.slice(0, 2)]).toEqual(['MODIFIED', ['a', 'Opaque']]);
    expect(rows[0]!.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    watch.close();
  });

  test('a metadata-only watch has metadata-only events, bookmarks and deletions', async () => {
    const path = `${await api.namespace('partial')}/secrets`;
    await api.made(path, secret('a'));
    const watch = await openWatch(api.server, `${path}?watch=1&allowWatchBookmarks=true`, PARTIAL);
    await watch.until(event => event.type === 'BOOKMARK');
    await api.delete(`${path}/a`);
    const deletion = (await watch.next())!;
    expect(deletion).toMatchObject({
      type: 'DELETED',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } },
    });
    expect(deletion.object['data']).toBeUndefined();
    expect(Number(metadataOf(deletion.object).resourceVersion)).toBeGreaterThan(0);
    watch.close();
  });

  test.each(['application/yaml', 'application/xml', 'application/json;stream=other', 'application/cbor-seq'])(
    'a watch as %s is refused with 406',
    async accept => {
      const { status, body } = await api.get(`${small}?watch=1&timeoutSeconds=1`, { accept });
      expect(status).toBe(406);
      if (body) expect(body).toMatchObject({ reason: 'NotAcceptable' });
    },
  );

  test.each([
    ['the metadata of one object', PARTIAL, '', 'the requested object is a list (*core.SecretList)'],
    [
      'the metadata of a list',
      PARTIAL.replace('Metadata', 'MetadataList'),
      '/a',
      'the requested object is not a list (*core.Secret)',
    ],
  ])('%s is refused for the other, whatever else the client accepts', async (_what, accept, path, why) => {
    for (const others of ['', ',application/json', ',*/*;q=0.1']) {
      const { status, body } = await api.get(small + path, { accept: accept + others });
      expect([status, body]).toEqual([
        406,
        expect.objectContaining({ reason: 'NotAcceptable', message: expect.stringContaining(why) as string }),
      ]);
    }
  });

  test('requests that accept none of the media types are refused before an object is read or written', async () => {
    for (const path of [small, `${small}/a`, `${small}/absent`])
      expect((await api.get(path, { accept: 'application/xml' })).status).toBe(406);
    expect((await api.post(small, secret('c'), { accept: 'text/plain' })).status).toBe(406);
    expect((await api.call('DELETE', `${small}/a`, { accept: 'text/plain' })).status).toBe(406);
    expect(namesIn((await api.get(small)).body)).toEqual(['a', 'b']);
  });
});
