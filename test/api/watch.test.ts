import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Event, type Loose, namesIn, listOf } from './support.js';
import { about, brief, getBytes, isBookmark, metadataOf, openWatch, secret, valued, versionOf } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const number = (version: string): bigint => BigInt(version);
const BLUEPRINT = 'kubernetes.io/initial-events-list-blueprint';
const WATCH_LIST = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

describe('watches', () => {
  let api: Api;
  let shop: string;
  let made = 0;
  /** A collection that no other test writes to. */
  const fresh = async (...names: string[]): Promise<string> => {
    const path = `${await api.namespace(`w${made++}`)}/secrets`;
    for (const name of names) await api.made(path, secret(name, 'v', { app: name }));
    return path;
  };
  beforeAll(async () => {
    api = await Api.shared();
    shop = await fresh('a', 'b', 'c');
  });
  afterAll(() => api.close());

  test('each change is one event with type and object: ADDED, MODIFIED by PUT and PATCH, DELETED [R008 R062 R063 R325 R326 R327 R328]', async () => {
    const path = await fresh();
    const watch = await openWatch(api.server, `${path}?watch=1`);
    expect(watch.status).toBe(200);
    expect(watch.headers['content-type']).toBe('application/json');
    expect(watch.headers['transfer-encoding']).toBe('chunked');
    const created = await api.made(path, secret('x'));
    const put = (await api.put(`${path}/x`, { ...created, stringData: { value: '1' } })).body;
    const patched = (await api.patch(`${path}/x`, MERGE, valued('2'))).body;
    await api.patch(`${path}/x`, MERGE, valued('2'));
    await api.delete(`${path}/x`);
    await api.made(path, secret('end'));
    const events = await watch.until(about('end'));
    expect(events.map(brief)).toEqual(['ADDED x', 'MODIFIED x', 'MODIFIED x', 'DELETED x', 'ADDED end']);
    expect(events.slice(0, 3).map(event => event.object)).toEqual([created, put, patched]);
    for (const event of events) {
      expect(Object.keys(event)).toEqual(['type', 'object']);
      expect(event.object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
    }
    watch.close();
  });

  test('a deletion has the last state of the object, with the version of the deletion [R338x]', async () => {
    const path = await fresh('gone', 'kept');
    const before = (await api.patch(`${path}/gone`, MERGE, valued('last'))).body;
    const watch = await openWatch(api.server, `${path}?watch=1&resourceVersion=${versionOf(before)}`);
    const selecting = await openWatch(
      api.server,
      `${path}?watch=1&resourceVersion=${versionOf(before)}&labelSelector=app%3Dkept`,
    );
    await api.delete(`${path}/gone`);
    const event = (await watch.next())!;
    const version = versionOf(event.object);
    expect(number(version)).toBeGreaterThan(number(versionOf(before)));
    expect(event).toEqual({
      type: 'DELETED',
      object: { ...before, metadata: { ...metadataOf(before), resourceVersion: version } },
    });
    const kept = (await api.get(`${path}/kept`)).body;
    const left = (await api.patch(`${path}/kept`, MERGE, { metadata: { labels: { app: 'other' } } })).body;
    expect(number(versionOf(left))).toBeGreaterThan(number(version));
    // An object that leaves the selection is shown as it last matched, with the version at which it left.
    expect(await selecting.next()).toEqual({
      type: 'DELETED',
      object: { ...kept, metadata: { ...metadataOf(kept), resourceVersion: versionOf(left) } },
    });
    for (const open of [watch, selecting]) open.close();
  });

  test('a watch resumed at N shows every change after N once, in order [R244 R247 R248 R325]', async () => {
    const path = await fresh();
    const versions: string[] = [];
    for (let i = 0; i < 20; i++) versions.push(versionOf(await api.made(path, secret(`s${i}`))));
    for (const from of [0, 7, 18]) {
      const watch = await openWatch(api.server, `${path}?watch=1&resourceVersion=${versions[from]}`);
      const events = await watch.until(about('s19'));
      expect(events.map(event => versionOf(event.object))).toEqual(versions.slice(from + 1));
      watch.close();
    }
  });

  test('a watch from a future version shows no events, errors or bookmarks before it [R337]', async () => {
    const path = await fresh('a');
    const future = number(versionOf((await api.get(path)).body)) + 3n;
    const [soon, never] = await Promise.all([
      openWatch(api.server, `${path}?watch=1&resourceVersion=${future}`),
      openWatch(api.server, `${path}?watch=1&resourceVersion=999999999999&allowWatchBookmarks=true&timeoutSeconds=1`),
    ]);
    // Controllers write in a new namespace meanwhile, so that the version may be reached before the last of these.
    const made: string[] = [];
    for (const name of ['b', 'c', 'd', 'e'])
      if (number(versionOf(await api.made(path, secret(name)))) > future) made.push(name);
    const first = (await soon.next())!;
    expect(number(versionOf(first.object))).toBeGreaterThan(future);
    expect(brief(first)).toBe(`ADDED ${made[0]}`);
    soon.close();
    expect(await never.rest()).toEqual([]);
  });

  test('a pod that is deleted without grace period is first marked, then removed [R246 R325]', async () => {
    const path = `${await api.namespace('grace')}/pods`;
    const pod = await api.made(path, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const watch = await openWatch(api.server, `${path}?watch=1&resourceVersion=${versionOf(pod)}`);
    const { body } = await api.delete(`${path}/a`);
    const events = await watch.until(event => event.type === 'DELETED');
    watch.close();
    expect(events.map(event => event.type)).toEqual(['MODIFIED', 'DELETED']);
    for (const event of events)
      expect(metadataOf(event.object)).toMatchObject({
        deletionGracePeriodSeconds: 0,
        deletionTimestamp: expect.any(String),
      });
    expect(versionOf(events[1]!.object)).toBe(versionOf(body));
  });

  test('two concurrent deletes of a pod both succeed', async () => {
    const path = `${await api.namespace('twice')}/pods`;
    for (let i = 0; i < 10; i++) {
      await api.made(path, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
      const answers = await Promise.all([api.delete(`${path}/a`), api.delete(`${path}/a`)]);
      for (const { status } of answers) expect([200, 404]).toContain(status);
      expect(answers.map(({ status }) => status)).toContain(200);
      expect((await api.get(`${path}/a`)).status).toBe(404);
    }
  });

  test.each([
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
  ])('an invalid version %s is refused with 422 by every request', async (version, why) => {
    const message = `resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": ${why}`;
    for (const path of [`${shop}?watch=1&`, `${shop}?`, `${shop}/a?`, `${shop.replace('/v1/', '/v1/watch/')}?`]) {
      const { status, body } = await api.get(`${path}resourceVersion=${version}`);
      expect([status, body]).toEqual([
        422,
        { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Invalid', message, code: 422 },
      ]);
    }
  });

  test('a version of several zeros means 0: the watch begins with the current objects', async () => {
    const watch = await openWatch(api.server, `${await fresh('a')}?watch=1&resourceVersion=00&timeoutSeconds=1`);
    expect((await watch.rest()).map(brief)).toEqual(['ADDED a']);
  });

  test('all parameters are parsed before any is validated, also those of lists', async () => {
    const path = await fresh('a');
    for (const more of ['', '&watch=1&timeoutSeconds=1&resourceVersionMatch=Exact', '&resourceVersion=x']) {
      const { status, body } = await api.get(`${path}?sendInitialEvents=true&labelSelector=a%3Ex${more}`);
      expect([status, body['message']]).toEqual([400, expect.stringMatching(/^unable to parse requirement/)]);
    }
    expect((await api.get(`${path}?labelSelector=,&limit=x`)).body['message']).toMatch(/^strconv.ParseInt/);
  });

  test('the options of a /watch/ path with watch=false are validated as those of a list', async () => {
    const path = (await fresh('a')).replace('/v1/', '/v1/watch/');
    const causes = async (query: string) => {
      const { status, body } = await api.get(`${path}?timeoutSeconds=1&${query}`);
      const { causes: found = [] } = (body['details'] ?? {}) as { causes?: { message: string }[] };
      return [status, ...found.map(cause => cause.message)];
    };
    expect(await causes('sendInitialEvents=true')).toEqual([422, 'Forbidden: sendInitialEvents is forbidden for list']);
    expect(await causes('resourceVersionMatch=NotOlderThan')).toEqual([
      422,
      'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ]);
    expect(await causes('watch=1&sendInitialEvents=true')).toEqual([
      422,
      'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ]);
    const watch = await openWatch(
      api.server,
      `${path}?timeoutSeconds=1&resourceVersionMatch=NotOlderThan&resourceVersion=0`,
    );
    expect((await watch.rest()).map(brief)).toEqual(['ADDED a']);
  });

  test('an unacceptable media type is refused before the options are validated, YAML afterwards', async () => {
    const codeOf = async (accept: string, query: string) =>
      (await api.get(`${shop}?watch=1&${query}`, { accept })).status;
    expect(await codeOf('image/png', 'limit=x')).toBe(406);
    expect(await codeOf('application/json;as=Wrong;g=meta.k8s.io;v=v1', 'limit=x')).toBe(406);
    expect(await codeOf('application/yaml', 'limit=x')).toBe(400);
    expect(await codeOf('application/yaml', 'limit=1')).toBe(406);
  });

  test('a Table watch with an unknown includeObject is refused before it begins', async () => {
    const path = await fresh('a');
    const { status, body } = await api.get(`${path}?watch=1&timeoutSeconds=1&includeObject=Wrong`, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    });
    expect([status, body['message']]).toEqual([
      400,
      "Unable to convert to Table as requested: includeObject: Invalid value: \"Wrong\": must be 'Metadata', 'Object', 'None', or empty",
    ]);
  });

  test('every line of a stream is an event', async () => {
    const path = await fresh('a');
    const textOf = async (query: string) =>
      (await getBytes(api.server, `${path}?watch=1&${query}`, {})).bytes.toString();
    const [busy, quiet] = await Promise.all([
      textOf('timeoutSeconds=2'),
      textOf('timeoutSeconds=2&labelSelector=none'),
    ]);
    expect(busy).toMatch(/^ ?\{"type":"ADDED",.*\}\n ?$/);
    expect(quiet).toMatch(/^ ?$/);
  });

  test('no byte follows the last event of a short watch, one with bookmarks, or one of a client that rejects it', async () => {
    const path = await fresh('a');
    const textOf = async (query: string, headers = {}) =>
      (await getBytes(api.server, `${path}?watch=1&${query}`, headers)).bytes.toString();
    const texts = await Promise.all([
      textOf('timeoutSeconds=1'),
      textOf('timeoutSeconds=3&allowWatchBookmarks=true'),
      textOf('timeoutSeconds=2', { 'user-agent': 'Kubernetes Java Client/20.0.1' }),
    ]);
    for (const text of texts) expect(text).toMatch(/^ ?\{"type":"ADDED",.*\}\n$/s);
  });

  test('a watch with an elapsed timeout ends immediately', async () => {
    const path = await fresh('a');
    const list = (await api.get(path)).body;
    const watch = await openWatch(api.server, `${path}?watch=1&timeoutSeconds=-1&resourceVersion=${versionOf(list)}`);
    expect(await watch.rest()).toEqual([]);
  });

  test('a watch with a timeout ends in time, after a bookmark if bookmarks were requested [R064 R164 R330]', async () => {
    const path = await fresh('a');
    const list = (await api.get(path)).body;
    const from = `${path}?watch=1&timeoutSeconds=3&resourceVersion=${versionOf(list)}`;
    const [plain, marked] = await Promise.all([
      openWatch(api.server, from),
      openWatch(api.server, `${from}&allowWatchBookmarks=1`),
    ]);
    const created = await api.made(path, secret('b'));
    expect((await plain.rest()).map(brief)).toEqual(['ADDED b']);
    const events = await marked.rest();
    expect(events.map(event => event.type)).toEqual(['ADDED', 'BOOKMARK']);
    const version = versionOf(events[1]!.object);
    const metadata = { resourceVersion: version, creationTimestamp: null };
    expect(events[1]!.object).toEqual({ kind: 'Secret', apiVersion: 'v1', metadata });
    expect(number(version)).toBeGreaterThanOrEqual(number(versionOf(created)));
    await api.made(path, secret('c'));
    const resumed = await openWatch(api.server, `${path}?watch=1&resourceVersion=${version}`);
    expect((await resumed.until(about('c'))).map(brief)).toEqual(['ADDED c']);
    resumed.close();
  });

  describe('sendInitialEvents', () => {
    const mark = (event: Event): unknown =>
      (metadataOf(event.object)['annotations'] as Loose | undefined)?.['k8s.io/initial-events-end'];

    test.each([
      ['R334', 'unset', ''],
      ['R334', 'empty', '&resourceVersion='],
      ['R165', '0', '&resourceVersion=0'],
      ['R335', 'that of an object', '&resourceVersion=VERSION'],
    ])(
      '[%s R331 R332 R333] version %s: the state, one bookmark with the mark, then changes',
      async (_id, _name, version) => {
        const path = await fresh('a', 'b', 'c');
        const list = (await api.get(path)).body;
        const asked = version.replace('VERSION', versionOf(list));
        const watch = await openWatch(api.server, `${path}?${WATCH_LIST}${asked}`);
        const events = await watch.until(isBookmark);
        expect(events.map(brief)).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'BOOKMARK']);
        const items = listOf(list['items']);
        expect(events.slice(0, 3).map(({ object }) => object['data'])).toEqual(items.map(item => item['data']));
        const { object } = events[3]!;
        expect(object).toEqual({
          kind: 'Secret',
          apiVersion: 'v1',
          metadata: {
            resourceVersion: versionOf(object),
            creationTimestamp: null,
            annotations: { 'k8s.io/initial-events-end': 'true', [BLUEPRINT]: expect.any(String) },
          },
        });
        expect(number(versionOf(object))).toBeGreaterThanOrEqual(number(versionOf(list)));
        await api.made(path, secret('d'));
        await api.delete(`${path}/a`);
        expect((await watch.until(about('a'))).map(brief)).toEqual(['ADDED d', 'DELETED a']);
        watch.close();
      },
    );

    test('the end of initial events contains an empty list in the form of the events', async () => {
      const path = await fresh('a');
      const listOf = async (accept: string): Promise<Loose> => {
        const { bytes } = await getBytes(api.server, `${path}?${WATCH_LIST}&timeoutSeconds=1`, { accept });
        const last = JSON.parse(bytes.toString().trim().split('\n').at(-1)!) as Event;
        const annotations = metadataOf(last.object)['annotations'] as unknown as { [name: string]: string };
        return JSON.parse(Buffer.from(annotations[BLUEPRINT]!, 'base64').toString()) as Loose;
      };
      const meta = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
      expect(await listOf('application/json')).toEqual({
        kind: 'SecretList',
        apiVersion: 'v1',
        metadata: {},
        items: null,
      });
      expect(await listOf(meta)).toEqual({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: {},
        items: null,
      });
    });

    test.each(['', 'resourceVersion=0', 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'])(
      'a watch with "%s" and bookmarks can replace a list, and then has no Tables [R332]',
      async query => {
        const path = await fresh('a');
        const events = async (accept: string): Promise<Event[]> => {
          const asked = `${path}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&${query}`;
          return (await openWatch(api.server, asked, accept)).rest();
        };
        const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
        const refused = await getBytes(api.server, `${path}?watch=1&allowWatchBookmarks=true&${query}`, {
          accept: table,
        });
        expect(refused.status).toBe(406);
        const [added, end] = await events(`${table},application/json`);
        expect([added!.object['kind'], end!.type, mark(end!)]).toEqual(['Secret', 'BOOKMARK', 'true']);
      },
    );

    test('without objects the bookmark is sent immediately, not older than the request [R332 R334]', async () => {
      const path = await fresh();
      const { metadata } = await api.made('/api/v1/namespaces', { metadata: { name: `elsewhere${made++}` } });
      for (const selector of ['', '&labelSelector=app%3Dnone', '&fieldSelector=metadata.name%3Dnone']) {
        const watch = await openWatch(api.server, `${path}?${WATCH_LIST}${selector}`);
        const [first] = await watch.until(() => true);
        expect([first!.type, mark(first!)]).toEqual(['BOOKMARK', 'true']);
        expect(number(versionOf(first!.object))).toBeGreaterThanOrEqual(number(String(metadata!['resourceVersion'])));
        watch.close();
      }
    });

    test('the object of a bookmark has the members that every object of a built-in kind has', async () => {
      const leases = '/apis/coordination.k8s.io/v1/leases';
      const watch = await openWatch(api.server, `${leases}?${WATCH_LIST}&labelSelector=app%3Dnone`);
      const [first] = await watch.until(() => true);
      const { annotations: _, resourceVersion: __, ...metadata } = first!.object.metadata as object as Loose;
      expect({ ...first!.object, metadata }).toEqual({
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { creationTimestamp: null },
        spec: {},
      });
      watch.close();
    });

    test('without allowWatchBookmarks there is no bookmark, with false no initial events; the end is marked once [R164 R165]', async () => {
      const path = await fresh('a');
      const quiet = await openWatch(
        api.server,
        `${path}?${WATCH_LIST.replace('&allowWatchBookmarks=true', '')}&timeoutSeconds=3`,
      );
      const none = await openWatch(
        api.server,
        `${path}?${WATCH_LIST.replace('Events=true', 'Events=false')}&timeoutSeconds=3`,
      );
      const twice = await openWatch(api.server, `${path}?${WATCH_LIST}&timeoutSeconds=3`);
      expect((await quiet.rest()).map(brief)).toEqual(['ADDED a']);
      const rest = await none.rest();
      expect(rest.map(event => [event.type, mark(event)])).toEqual([['BOOKMARK', undefined]]);
      expect((await twice.rest()).map(event => [event.type, mark(event)])).toEqual([
        ['ADDED', undefined],
        ['BOOKMARK', 'true'],
        ['BOOKMARK', undefined],
      ]);
    });

    test('a version that is never reached: the stream has one ERROR with 504 [R350 R351 R352]', async () => {
      const path = await fresh('a');
      const watch = await openWatch(api.server, `${path}?${WATCH_LIST}&resourceVersion=999999999999`);
      const events = await watch.rest();
      expect(events.map(event => event.type)).toEqual(['ERROR']);
      expect(events[0]!.object).toMatchObject({ code: 504, reason: 'Timeout', details: { retryAfterSeconds: 1 } });
    });

    test('concurrent writes are either in the initial events or after the bookmark [R246 R331 R333]', async () => {
      const path = await fresh();
      const names = Array.from({ length: 60 }, (_, i) => `s${i}`);
      const writing = (async () => {
        for (const name of names) await api.made(path, secret(name));
      })();
      const watches = [];
      for (let i = 0; i < 8; i++) {
        watches.push(await openWatch(api.server, `${path}?${WATCH_LIST}`));
        await api.get(path);
      }
      await writing;
      for (const watch of watches) {
        const events = await watch.until(about('s59'));
        const added = events.filter(event => event.type === 'ADDED');
        expect(added.map(event => metadataOf(event.object).name).sort()).toEqual([...names].sort());
        if (!events.some(isBookmark)) await watch.until(isBookmark);
        watch.close();
      }
    });

    test.each([
      ['sendInitialEvents=true', 'R166'],
      ['sendInitialEvents=true&resourceVersionMatch=Exact', 'R162'],
      ['resourceVersionMatch=NotOlderThan', 'R162'],
      ['resourceVersionMatch=Exact&resourceVersion=1', 'R162'],
    ])('%s is refused before the stream begins [%s]', async query => {
      const { status, body } = await api.get(`${shop}?watch=1&timeoutSeconds=1&${query}`);
      expect(status).toBe(422);
      expect(body['message']).toContain('resourceVersionMatch');
    });

    test('the end is marked with the neutral domain in the neutral naming [R332]', async () => {
      const neutral = await Api.start({ naming: 'neutral' });
      const watch = await openWatch(neutral.server, `/api/v1/secrets?${WATCH_LIST}`);
      const events = await watch.until(isBookmark);
      expect(metadataOf(events.at(-1)!.object)['annotations']).toMatchObject({
        'orchestrator.io/initial-events-end': 'true',
      });
      watch.close();
      await neutral.close();
    });
  });

  test('a list and the changes of a watch from its version give the same state as a later list, with concurrent writers [R009 R048 R246]', async () => {
    const path = await fresh();
    let writing = true;
    const writer = async (w: number): Promise<void> => {
      for (let i = 0; i < 30; i++) {
        const name = `w${w}-${i % 4}`;
        await api.post(path, secret(name, `${i}`, { parity: i % 2 ? 'odd' : 'even' }));
        await api.patch(`${path}/${name}`, MERGE, {
          ...valued(`p${i}`),
          metadata: { labels: { parity: i % 3 ? 'odd' : 'even' } },
        });
        if (i % 5 === 0) await api.delete(`${path}/${name}`);
      }
    };
    const writers = Promise.all([0, 1, 2, 3].map(writer)).then(() => {
      writing = false;
    });
    const caches: { query: string; list: Loose; watch: Awaited<ReturnType<typeof openWatch>> }[] = [];
    while (writing && caches.length < 12) {
      for (const query of ['', 'labelSelector=parity%3Dodd', 'resourceVersion=0']) {
        const list = (await api.get(`${path}?${query}`)).body;
        const selector = query.startsWith('label') ? `&${query}` : '';
        caches.push({
          query,
          list,
          watch: await openWatch(api.server, `${path}?watch=1&resourceVersion=${versionOf(list)}${selector}`),
        });
      }
    }
    await writers;
    await api.made(path, secret('end', '', { parity: 'odd' }));
    for (const { query, list, watch } of caches) {
      const cache = new Map(listOf(list['items']).map(item => [metadataOf(item).name, versionOf(item)]));
      let last = number(versionOf(list));
      for (const { type, object } of await watch.until(about('end'))) {
        const version = number(versionOf(object));
        // No older object after a newer one: versions increase over the whole stream, and therefore for each object.
        expect(version).toBeGreaterThan(last);
        last = version;
        if (type === 'DELETED') cache.delete(metadataOf(object).name);
        else cache.set(metadataOf(object).name, versionOf(object));
      }
      watch.close();
      const later = listOf((await api.get(`${path}?${query}`)).body['items']);
      expect([...cache].sort()).toEqual(later.map(item => [metadataOf(item).name, versionOf(item)]).sort());
    }
    expect(namesIn((await api.get(path)).body)).toContain('end');
  });

  test('watches from list versions see the same events in the same order, whenever they begin [R325]', async () => {
    const path = await fresh();
    const start = versionOf((await api.get(path)).body);
    const early = await Promise.all(
      [0, 1, 2].map(() => openWatch(api.server, `${path}?watch=1&resourceVersion=${start}`)),
    );
    await Promise.all(Array.from({ length: 30 }, (_, i) => api.made(path, secret(`s${i}`))));
    const late = await openWatch(api.server, `${path}?watch=1&resourceVersion=${start}`);
    await api.made(path, secret('end'));
    const [first, ...others] = await Promise.all([...early, late].map(watch => watch.until(about('end'))));
    for (const other of others) expect(other).toEqual(first);
    for (const watch of [...early, late]) watch.close();
  });
});
