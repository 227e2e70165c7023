import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HISTORY_MS } from '../../core/limits.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { type Answer, Api, deployment, type Loose, namesIn, listOf } from './support.js';
import { metadataOf, openWatch, secret, valued, versionOf } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const number = (version: string): bigint => BigInt(version);
/** A value that a double cannot represent exactly, so it is compared as text. */
const FUTURE = '9223372036854775807';

/** A collection with history: a to e exist at `old`; then b was deleted, c changed and f created, up to `now`. */
interface Past {
  readonly path: string;
  readonly old: string;
  readonly now: string;
  /** The continue token of a first page of two objects at `old`. */
  readonly token: string;
}

async function past(api: Api, name: string): Promise<Past> {
  const path = `${await api.namespace(name)}/secrets`;
  for (const letter of 'abcde') await api.made(path, secret(letter, 'old'));
  const page = (await api.get(`${path}?limit=2`)).body;
  await api.delete(`${path}/b`);
  await api.patch(`${path}/c`, MERGE, valued('new'));
  const f = await api.made(path, secret('f', 'new'));
  return { path, old: versionOf(page), now: versionOf(f), token: String(metadataOf(page)['continue']) };
}

const OLD = ['a', 'b', 'c', 'd', 'e'];
const NOW = ['a', 'c', 'd', 'e', 'f'];

/**
 * Expected lists of the collection for each meaning (spec, "Resource version semantics: meanings").
 */
const MEANINGS: { readonly [meaning: string]: (list: Loose, past: Past, limit: number) => void } = {
  'Most recent': (list, { now }, limit) => {
    expect(namesIn(list)).toEqual(NOW.slice(0, limit));
    expect(number(versionOf(list))).toBeGreaterThanOrEqual(number(now));
  },
  Any: (list, _past, limit) => {
    expect([OLD, NOW].map(all => all.slice(0, limit))).toContainEqual(namesIn(list));
  },
  'Not older than': (list, { old }, limit) => {
    expect(number(versionOf(list))).toBeGreaterThanOrEqual(number(old));
    expect(namesIn(list)).toEqual(NOW.slice(0, limit));
  },
  Exact: (list, { old }, limit) => {
    expect(versionOf(list)).toBe(old);
    expect(namesIn(list)).toEqual(OLD.slice(0, limit));
    const c = (list['items'] as unknown as { metadata: { name: string }; data: { value: string } }[])[2];
    if (c) expect(c.data.value).toBe(Buffer.from('old').toString('base64'));
  },
  'Continue token, Exact': (list, { old }, limit) => {
    expect(versionOf(list)).toBe(old);
    expect(namesIn(list)).toEqual(OLD.slice(2, 2 + limit));
  },
};

/**
 * The rows of the list table: id, resourceVersionMatch, paging, resourceVersion, meaning, or the status code if
 * invalid.
 */
const LISTS: readonly (readonly [
  id: string,
  match: string,
  paging: string,
  version: string,
  meaning: string | number,
])[] = [
  ['R212', '', 'none', 'unset', 'Most recent'],
  ['R213', '', 'none', '0', 'Any'],
  ['R214', '', 'none', 'old', 'Not older than'],
  ['R215', '', 'limit', 'unset', 'Most recent'],
  ['R216', '', 'limit', '0', 'Any'],
  ['R217', '', 'limit', 'old', 'Exact'],
  ['R218', '', 'continue', 'unset', 'Continue token, Exact'],
  ['R219', '', 'continue', '0', 'Continue token, Exact'],
  ['R220 R342', '', 'continue', 'old', 400],
  ['R221 R163 R343', 'Exact', 'none', 'unset', 400],
  ['R222 R343', 'Exact', 'none', '0', 400],
  ['R223', 'Exact', 'none', 'old', 'Exact'],
  ['R224 R343', 'Exact', 'limit', 'unset', 400],
  ['R225 R343', 'Exact', 'limit', '0', 400],
  ['R226', 'Exact', 'limit', 'old', 'Exact'],
  ['R227 R163 R343', 'NotOlderThan', 'none', 'unset', 400],
  ['R228', 'NotOlderThan', 'none', '0', 'Any'],
  ['R229', 'NotOlderThan', 'none', 'old', 'Not older than'],
  ['R230 R343', 'NotOlderThan', 'limit', 'unset', 400],
  ['R231', 'NotOlderThan', 'limit', '0', 'Any'],
  ['R232', 'NotOlderThan', 'limit', 'old', 'Not older than'],
];

describe('resource versions', () => {
  let api: Api;
  let shop: Past;
  beforeAll(async () => {
    api = await Api.shared();
    shop = await past(api, 'versions');
  });
  afterAll(() => api.close());

  const query = (match: string, paging: string, version: string): string =>
    [
      match && `resourceVersionMatch=${match}`,
      paging !== 'none' && 'limit=2',
      paging === 'continue' && `continue=${encodeURIComponent(shop.token)}`,
      version !== 'unset' && `resourceVersion=${version === 'old' ? shop.old : version}`,
    ]
      .filter(Boolean)
      .join('&');

  test.each(LISTS)('[%s] list, match %j, paging %s, version %s: %s', async (_id, match, paging, version, meaning) => {
    const answer = await api.get(`${shop.path}?${query(match, paging, version)}`);
    if (typeof meaning === 'number') {
      expect(answer.status).toBe(meaning);
      expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest', code: meaning });
      // The message names both parameters that exclude each other.
      expect(answer.body['message']).toMatch(/resource ?version/i);
      expect(answer.body['message']).toMatch(paging === 'continue' ? /continue/ : /resourceVersionMatch/);
      return;
    }
    expect(answer.status).toBe(200);
    MEANINGS[meaning]!(answer.body, shop, paging === 'none' ? 5 : 2);
  });

  test.each([
    ['R209', '', 'Most recent'],
    ['R210 R233', '0', 'Any'],
    ['R211', 'old', 'Not older than'],
  ])('[%s] get with version %j: %s', async (_id, version, meaning) => {
    const asked = version === 'old' ? shop.old : version;
    const { status, body } = await api.get(`${shop.path}/c${asked ? `?resourceVersion=${asked}` : ''}`);
    expect(status).toBe(200);
    if (meaning !== 'Any') expect(number(versionOf(body))).toBeGreaterThan(number(shop.old));
  });

  test.each([
    ['R242 R245', '', 'the state, then changes'],
    ['R243 R245', '0', 'the state, then changes'],
    ['R244 R247 R248', 'now', 'changes alone'],
  ])('[%s] watch from version %j shows %s', async (_id, version, what) => {
    const { path } = await past(api, `watch-${version || 'unset'}`);
    const list = (await api.get(path)).body;
    const from = version === 'now' ? versionOf(list) : version;
    const watch = await openWatch(api.server, `${path}?watch=1${from ? `&resourceVersion=${from}` : ''}`);
    if (what !== 'changes alone') {
      const state = [];
      for (const _item of namesIn(list)) state.push(await watch.next());
      expect(state.map(event => [event!.type, metadataOf(event!.object).name])).toEqual(
        NOW.map(name => ['ADDED', name]),
      );
    }
    const g = await api.made(path, secret('g'));
    expect(await watch.next()).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'g', resourceVersion: versionOf(g) } },
    });
    watch.close();
  });

  test('a version is opaque text that requests accept unchanged, and changes with every stored change [R037 R161 R208]', async () => {
    const created = await api.made(shop.path, secret('rv'));
    const version = versionOf(created);
    expect(typeof version).toBe('string');
    for (const path of [`${shop.path}/rv`, shop.path, `${shop.path}?watch=1&timeoutSeconds=1`])
      expect((await api.get(`${path}${path.includes('?') ? '&' : '?'}resourceVersion=${version}`)).status).toBe(200);
    expect(versionOf((await api.get(`${shop.path}/rv`)).body)).toBe(version);
    const changed = versionOf((await api.patch(`${shop.path}/rv`, MERGE, valued('x'))).body);
    expect(changed).not.toBe(version);
    expect(versionOf((await api.patch(`${shop.path}/rv`, MERGE, valued('x'))).body)).toBe(changed);
    await api.delete(`${shop.path}/rv`);
  });

  test('a PUT with the current version is accepted, one with an outdated version is refused, and one without is accepted only for some kinds [R142 R281 R345]', async () => {
    const created = await api.made(shop.path, secret('put'));
    const answer = await api.put(`${shop.path}/put`, { ...created, stringData: { value: '1' } });
    expect(answer.status).toBe(200);
    const stale = await api.put(`${shop.path}/put`, { ...created, stringData: { value: '2' } });
    expect(stale.status).toBe(409);
    expect(stale.body).toMatchObject({ reason: 'Conflict', details: { name: 'put', kind: 'secrets' } });
    expect((await api.put(`${shop.path}/put`, secret('put', '3'))).status).toBe(200);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/versions/leases';
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} };
    await api.made(leases, lease);
    const blind = await api.put(`${leases}/l`, lease);
    expect(blind.status).toBe(422);
    expect(blind.body['message']).toContain('metadata.resourceVersion');
    await api.delete(`${shop.path}/put`);
  });

  test('a list has the version of its state, which is not below the requested one [R048 R236 R239]', async () => {
    const list = (await api.get(shop.path)).body;
    const items = listOf(list['items']);
    for (const item of items) expect(number(versionOf(item))).toBeLessThanOrEqual(number(versionOf(list)));
    const notOlder = (await api.get(`${shop.path}?resourceVersion=${shop.old}&resourceVersionMatch=NotOlderThan`)).body;
    expect(number(versionOf(notOlder))).toBeGreaterThanOrEqual(number(shop.old));
    const exact = (await api.get(`${shop.path}?resourceVersion=${shop.old}&resourceVersionMatch=Exact`)).body;
    expect(versionOf(exact)).toBe(shop.old);
  });

  test.each(['Newest', 'exact'])('the match %j is refused [R162]', async match => {
    const { status, body } = await api.get(`${shop.path}?resourceVersion=${shop.old}&resourceVersionMatch=${match}`);
    expect(status).toBe(422);
    expect(body['message']).toContain('resourceVersionMatch');
  });

  test('limits count items: one, many, more than exist; a limit that is not a number is refused [R167 R249 R362]', async () => {
    expect(namesIn((await api.get(`${shop.path}?limit=1`)).body)).toHaveLength(1);
    const all = (await api.get(`${shop.path}?limit=100000`)).body;
    expect(namesIn(all)).toEqual(NOW);
    expect(metadataOf(all)['continue']).toBeUndefined();
    expect((await api.get(`${shop.path}?limit=x`)).status).toBe(400);
  });

  describe('versions that the server has not seen', () => {
    test.each(['/c', '', '/c?limit=1', '?resourceVersionMatch=NotOlderThan&limit=1'])(
      '[R182 R350 R351 R352] %j: 504 with the cause that clients look for',
      async path => {
        const answer = await api.get(`${shop.path}${path}${path.includes('?') ? '&' : '?'}resourceVersion=${FUTURE}`);
        expect(answer.status).toBe(504);
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.body).toMatchObject({
          reason: 'Timeout',
          message: expect.stringContaining(`Too large resource version: ${FUTURE}, current: `),
          details: {
            retryAfterSeconds: 1,
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          },
        });
      },
    );

    test('a request for a future version is answered as soon as that version is reached [R235]', async () => {
      const next = number(versionOf((await api.get(shop.path)).body)) + 1n;
      const waiting = api.get(`${shop.path}/later?resourceVersion=${next}`);
      const later = await api.made(shop.path, secret('later'));
      const { status, body } = await waiting;
      expect([200, versionOf(later)]).toEqual([status, versionOf(body)]);
      await api.delete(`${shop.path}/later`);
    });
  });
});

describe('paging', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.start();
    path = `${await api.namespace('pages')}/secrets`;
    for (let i = 0; i < 10; i++) await api.made(path, secret(`s${i}`, '', { parity: i % 2 ? 'odd' : 'even' }));
  });
  afterAll(() => api.close());

  const pages = async (
    limit: number,
    more = '',
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<Loose[]> => {
    const all: Loose[] = [];
    for (let token = ''; ; ) {
      const answer = await api.get(`${path}?limit=${limit}${more}${token && `&continue=${encodeURIComponent(token)}`}`);
      expect(answer.status).toBe(200);
      all.push(answer.body);
      token = String(metadataOf(answer.body)['continue'] ?? '');
      if (token === '') return all;
      await between();
    }
  };

  test('pages hold every object once and end without a token [R050 R051 R168 R250]', async () => {
    for (const limit of [1, 3, 4, 10, 11]) {
      const all = await pages(limit);
      expect(all.flatMap(namesIn)).toEqual(Array.from({ length: 10 }, (_, i) => `s${i}`));
      expect(all.slice(0, -1).every(page => namesIn(page).length === limit)).toBe(true);
    }
  });

  test('remainingItemCount is the number of further items, except for selections, whole lists and last pages [R052 R053 R054 R055]', async () => {
    const counts = (await pages(3)).map(page => metadataOf(page)['remainingItemCount']);
    expect(counts).toEqual([7, 4, 1, undefined]);
    for (const selector of ['&labelSelector=parity%3Deven', '&fieldSelector=type%3DOpaque'])
      for (const page of await pages(2, selector)) expect(metadataOf(page)).not.toHaveProperty('remainingItemCount');
    expect(metadataOf((await api.get(path)).body)).not.toHaveProperty('remainingItemCount');
  });

  test.each(['', '&labelSelector=parity%3Deven'])(
    'paging with selectors during writes shows one snapshot (%j) [R049 R240 R251 R252]',
    async selector => {
      const before = namesIn((await api.get(`${path}?${selector.slice(1)}`)).body);
      let i = 0;
      const all = await pages(1, selector, async () => {
        await api.made(path, secret(`a${i}${selector.length}`, '', { parity: 'even' }));
        await api.patch(`${path}/s${i}`, MERGE, { metadata: { labels: { parity: 'none' } } });
        await api.delete(`${path}/s${9 - i++}`);
      });
      expect(all.flatMap(namesIn)).toEqual(before);
      expect(new Set(all.map(versionOf)).size).toBe(1);
      const after = namesIn((await api.get(`${path}?${selector.slice(1)}`)).body);
      expect(after).toContain(`a0${selector.length}`);
      await api.delete(path);
      for (let n = 0; n < 10; n++) await api.made(path, secret(`s${n}`, '', { parity: n % 2 ? 'odd' : 'even' }));
    },
  );

  test('a token is valid for its resource and namespace, any number of times, with any limit and any selector [R168]', async () => {
    const first = (await api.get(`${path}?limit=2&labelSelector=parity`)).body;
    const token = encodeURIComponent(String(metadataOf(first)['continue']));
    const rest = ['s2', 's3', 's4', 's5', 's6', 's7', 's8', 's9'];
    const even = ['s2', 's4', 's6', 's8'];
    for (const [more, names, isWhole] of [
      ['labelSelector=parity', rest, true],
      ['', rest, true],
      ['labelSelector=parity&limit=3', rest.slice(0, 3), false],
      ['limit=3', rest.slice(0, 3), false],
      ['labelSelector=parity%3Deven', even, true],
      ['labelSelector=parity%3Deven&limit=2', even.slice(0, 2), false],
      ['fieldSelector=metadata.name!%3Ds2', rest.slice(1), true],
      // As upstream, where an object selected by name is also found with a token.
      ['fieldSelector=metadata.name%3Ds5', ['s5'], true],
      ['fieldSelector=metadata.name%3Ds0', [], true],
    ] as const) {
      const { status, body } = await api.get(`${path}?${more}&continue=${token}`);
      expect([more, status, namesIn(body), versionOf(body)]).toEqual([more, 200, names, versionOf(first)]);
      expect([more, metadataOf(body)['continue'] === undefined]).toEqual([more, isWhole]);
    }
    const other = encodeURIComponent(
      String(metadataOf((await api.get(`${path}?limit=1&labelSelector=parity%3Dodd`)).body)['continue']),
    );
    expect(namesIn((await api.get(`${path}?limit=2&continue=${other}`)).body)).toEqual(['s2', 's3']);
    for (const foreign of [
      '/api/v1/secrets',
      '/api/v1/namespaces/nowhere/secrets',
      path.replace('secrets', 'configmaps'),
    ]) {
      const { status, body } = await api.get(`${foreign}?continue=${token}`);
      expect([foreign, status, body['message']]).toEqual([
        foreign,
        400,
        expect.stringContaining('for a list of this resource and namespace'),
      ]);
    }
  });

  test('a token of a list over all namespaces survives a selector for one of them [R168]', async () => {
    const list = async (query: string) => (await api.get(`/api/v1/secrets?fieldSelector=${query}`)).body;
    const inPaging = `metadata.namespace%3D${path.split('/')[4]}`;
    const first = await list(`${inPaging}&limit=8`);
    expect(namesIn(first)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']);
    const token = encodeURIComponent(String(metadataOf(first)['continue']));
    expect(namesIn(await list(`${inPaging}&continue=${token}`))).toEqual(['s8', 's9']);
    expect(namesIn(await list(`metadata.namespace!%3Dx&limit=1&continue=${token}`))).toEqual(['s8']);
    // Namespaces before and after the position at which the token continues.
    await api.namespace('aaa');
    await api.made('/api/v1/namespaces/aaa/secrets', secret('in-aaa'));
    await api.namespace('zzz');
    await api.made('/api/v1/namespaces/zzz/secrets', secret('in-zzz'));
    const version = encodeURIComponent(String(metadataOf(await list(`${inPaging}&limit=8`))['continue']));
    const from = async (namespace: string, of: string) =>
      namesIn(await list(`metadata.namespace%3D${namespace}&continue=${of}`));
    expect(await from('aaa', version)).toEqual([]);
    expect(await from('zzz', version)).toEqual(['in-zzz']);
    // At a past version, which is read from the store.
    await api.patch(`${path}/s9`, MERGE, { metadata: { labels: { parity: 'odd', changed: 'yes' } } });
    expect(await from('aaa', version)).toEqual([]);
    expect(await from('zzz', version)).toEqual(['in-zzz']);
    expect(await from('zzz', token)).toEqual([]);
    await api.delete('/api/v1/namespaces/aaa/secrets');
    await api.delete('/api/v1/namespaces/zzz/secrets');
  });

  test('a list that selects one object by name has no pages, but its token is validated [R168]', async () => {
    const first = (await api.get(`${path}?limit=2`)).body;
    const token = encodeURIComponent(String(metadataOf(first)['continue']));
    const single = (await api.get(`${path}?limit=1&fieldSelector=metadata.name%3Ds0`)).body;
    expect([namesIn(single), metadataOf(single)['continue']]).toEqual([['s0'], undefined]);
    for (const bad of [token.slice(0, -3), 'abc']) {
      for (const more of ['', '&fieldSelector=metadata.name%3Ds0']) {
        const { status, body } = await api.get(`${path}?continue=${bad}${more}`);
        expect([status, body['message']]).toEqual([
          400,
          expect.stringMatching(/^invalid continue token: continue key is not valid/),
        ]);
      }
    }
  });
});

describe('history that was removed', () => {
  let api: Api;
  let path: string;
  let items = 0;
  beforeAll(async () => {
    api = await Api.start({ historyRetention: 200 });
    path = `${await api.namespace('gone')}/secrets`;
    for (const letter of 'abcde') await api.made(path, secret(letter));
  });
  afterAll(() => api.close());

  /** Writes until a GET of `asked` is answered with 410. Returns that answer. */
  const expire = async (asked: string): Promise<Answer> => {
    let answer = await api.get(asked);
    await api.until(async () => {
      await api.made(path, secret(`z${items++}`));
      answer = await api.get(asked);
      return answer.status === 410;
    });
    return answer;
  };

  test('an Exact list at a version without history is 410 Expired; a list not older than it is answered [R238 R348 R349]', async () => {
    const version = versionOf((await api.get(path)).body);
    for (const exact of ['resourceVersionMatch=Exact', 'limit=1']) {
      const { body } = await expire(`${path}?resourceVersion=${version}&${exact}`);
      expect(body).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    }
    expect((await api.get(`${path}?resourceVersion=${version}`)).status).toBe(200);
    expect((await api.get(`${path}/a?resourceVersion=${version}`)).status).toBe(200);
  });

  test('an expired token is 410, with a token that continues from the same position with the current state [R347 R361]', async () => {
    const page = (await api.get(`${path}?limit=2`)).body;
    const token = encodeURIComponent(String(metadataOf(page)['continue']));
    const { body } = await expire(`${path}?limit=500&continue=${token}`);
    expect(body).toMatchObject({
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: expect.stringContaining('too old'),
    });
    const fresh = encodeURIComponent(String(metadataOf(body)['continue']));
    expect(fresh).not.toBe(token);
    const rest = (await api.get(`${path}?limit=500&continue=${fresh}`)).body;
    expect(namesIn(rest).slice(0, 3)).toEqual(['c', 'd', 'e']);
    expect(number(versionOf(rest))).toBeGreaterThan(number(versionOf(page)));
    expect(namesIn((await api.get(path)).body)).toEqual([...namesIn(page), ...namesIn(rest)]);
  });

  test('history is kept for five minutes by default [R360 R361]', async () => {
    expect(HISTORY_MS).toBe(5 * 60_000);
    let now = 0;
    const store = await openMemory({ now: () => now });
    for (const key of ['a', 'b']) await store.commit([[{ is: 'put', key, value: Buffer.from(key) }]]);
    for (; now <= 4 * 60_000; now += 30_000) await store.expireHistory();
    expect((await store.range('', { revision: 1 })).items.map(item => item.key)).toEqual(['a']);
    for (; now <= 10 * 60_000; now += 30_000) await store.expireHistory();
    await expect(store.range('', { revision: 1 })).rejects.toThrow('compacted');
    await store.close();
  });
});

describe('the resourceVersion of a write', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('writes')}/configmaps`;
  });
  afterAll(() => api.close());
  const given = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });

  test.each([
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
  ])('%s of an update is invalid: 422 with the name of the field', async (version, why) => {
    const message = `metadata.resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": ${why}`;
    await api.post(path, { metadata: { name: 'read' } });
    const { status, body } = await api.put(`${path}/read`, given('read', version));
    expect([status, body['reason'], body['message']]).toEqual([422, 'Invalid', message]);
    expect((await api.patch(`${path}/read`, MERGE, given('read', version))).status).toBe(422);
    const sets = path.replace('/api/v1', '/apis/apps/v1').replace('configmaps', 'deployments');
    await api.post(sets, deployment('scaled'));
    expect((await api.put(`${sets}/scaled/scale`, given('scaled', version))).status).toBe(422);
  });

  test('is compared as a number', async () => {
    const version = versionOf(await api.made(path, { metadata: { name: 'number' } }));
    expect((await api.put(`${path}/number`, given('number', `00${version}`))).status).toBe(200);
    expect((await api.put(`${path}/number`, given('number', '00'))).status).toBe(200);
    expect((await api.put(`${path}/number`, given('number', `${version}0`))).status).toBe(409);
  });

  test('of a create is refused if it is a number, and ignored otherwise', async () => {
    expect((await api.post(path, given('new', '5'))).status).toBe(400);
    const dry = await api.post(`${path}?dryRun=All`, given('new', '5'));
    expect([dry.status, versionOf(dry.body)]).toEqual([201, '5']);
    const made = await api.post(path, given('new', 'abc'));
    expect([made.status, versionOf(made.body)]).toEqual([201, expect.stringMatching(/^\d+$/)]);
  });
});
