import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authenticator as point,
  type Identified,
  type Received,
  type Refusal,
  type User,
} from '../../core/api/index.js';
import { type RequestHeaderConfig, requestHeaders } from '../../plugins/authn/requestHeader.js';
import { contributed } from '../access/support.js';
import { authority, type TestAuthority } from './certificates.js';

let ca: TestAuthority;
let folder: string;
const certificates: { [name: string]: string } = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proxy-'));
  ca = await authority('proxy-ca');
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
  certificates['front-proxy'] = (await ca.issue('front-proxy')).certificate;
  certificates['other'] = (await ca.issue('other')).certificate;
  certificates['client'] = (await (await authority('client-ca')).issue('front-proxy')).certificate;
});
afterAll(() => rmSync(folder, { recursive: true }));

const requestOf = (headers: readonly (readonly [string, string])[], certificate?: string): Received => ({
  header: name => headers.find(([given]) => given === name)?.[1],
  headers: () => headers,
  remoteAddress: '',
  path: '/',
  warn: () => undefined,
  ...(certificate === undefined ? {} : { certificate: certificates[certificate]! }),
});

const make = (more: Partial<RequestHeaderConfig> = {}, now = Date.now) =>
  requestHeaders(
    {
      clientCaFile: join(folder, 'ca.crt'),
      allowedNames: ['front-proxy'],
      usernameHeaders: ['x-remote-user', 'x-user'],
      uidHeaders: ['x-remote-uid'],
      groupHeaders: ['x-remote-group', 'x-group'],
      extraHeaderPrefixes: ['x-remote-extra-'],
      ...more,
    },
    { now, onClose: () => undefined },
  );

/** The user of a request; 401 if it is refused, null if the headers are ignored. */
async function userOf(
  headers: readonly (readonly [string, string])[],
  certificate?: string,
  authn = make(),
): Promise<User | 401 | null> {
  try {
    const found = (await authn.authenticate(requestOf(headers, certificate))) as Identified | null;
    return found === null ? null : found.user;
  } catch (thrown) {
    return (thrown as Refusal).code as 401;
  }
}

describe('headers of an authenticating proxy', () => {
  test('name the user; the first header with a value counts [A205] [A264] [A180]', async () => {
    expect(await userOf([['x-remote-user', 'ann']], 'front-proxy')).toEqual({
      name: 'ann',
      uid: '',
      groups: [],
      extra: new Map(),
    });
    expect(
      await userOf(
        [
          ['x-user', 'second'],
          ['x-remote-user', 'first'],
        ],
        'front-proxy',
      ),
    ).toMatchObject({ name: 'first' });
    expect(await userOf([['x-user', 'second']], 'front-proxy')).toMatchObject({ name: 'second' });
    expect(await userOf([['x-remote-group', 'a']], 'front-proxy')).toBeNull();
  });
  test('that are sent twice count once: a client cannot add a name where its proxy left the header empty', async () => {
    const twice = [
      ['x-remote-user', ''],
      ['x-remote-user', 'admin'],
    ] as const;
    expect(await userOf(twice, 'front-proxy')).toBe(401);
    expect(await userOf([...twice, ['x-user', 'ann']], 'front-proxy')).toMatchObject({ name: 'ann' });
    const ids = [
      ['x-remote-uid', ''],
      ['x-remote-uid', '0'],
    ] as const;
    expect(await userOf([['x-remote-user', 'ann'], ...ids], 'front-proxy')).toMatchObject({ name: 'ann', uid: '' });
  });
  test('give uid, all groups and extra, whose keys are decoded [A266] [A267] [A268] [A269]', async () => {
    const user = await userOf(
      [
        ['x-remote-user', 'ann'],
        ['x-remote-uid', '42'],
        ['x-remote-group', 'a'],
        ['x-group', 'c'],
        ['x-remote-group', 'b'],
        ['x-remote-extra-acme.com%2fpath', 'v1'],
        ['x-remote-extra-acme.com%2fpath', 'v2'],
        ['x-remote-extra-100%', 'raw'],
      ],
      'front-proxy',
    );
    expect(user).toEqual({
      name: 'ann',
      uid: '42',
      groups: ['a', 'b', 'c'],
      extra: new Map([
        ['acme.com/path', ['v1', 'v2']],
        ['100%', ['raw']],
      ]),
    });
  });
  test('count only with a certificate of the CA of proxies [A270]', async () => {
    expect(await userOf([['x-remote-user', 'ann']])).toBeNull();
    expect(await userOf([['x-remote-user', 'ann']], 'client')).toBe(401);
  });
  test('with a certificate of another name are refused, unless any name is allowed [A271]', async () => {
    expect(await userOf([['x-remote-user', 'ann']], 'other')).toBe(401);
    expect(await userOf([['x-remote-user', 'ann']], 'other', make({ allowedNames: [] }))).toMatchObject({
      name: 'ann',
    });
  });
  test('with an expired certificate are refused [A270]', async () => {
    const later = () => Date.now() + 10 * 24 * 3_600_000;
    expect(await userOf([['x-remote-user', 'ann']], 'front-proxy', make({}, later))).toBe(401);
  });
  test.each(['\u00e9mile', 'a\u00e9', '\u00ff', '\ufffd', 'a\u0000'])(
    'with the value %j are refused, and not truncated',
    async value => {
      expect(await userOf([['x-remote-user', value]], 'front-proxy')).toBe(401);
      expect(
        await userOf(
          [
            ['x-remote-user', 'ann'],
            ['x-remote-group', value],
          ],
          'front-proxy',
        ),
      ).toBe(401);
      expect(
        await userOf(
          [
            ['x-remote-user', 'ann'],
            ['x-remote-extra-a', value],
          ],
          'front-proxy',
        ),
      ).toBe(401);
    },
  );
  test('without a value are refused', async () => {
    expect(await userOf([['x-remote-user', '']], 'front-proxy')).toBe(401);
  });
  test('prevent caching of their request, and of no other', async () => {
    const authn = make();
    expect(authn.cacheFor).toBe('forever');
    expect(await authn.authenticate(requestOf([['x-remote-user', 'ann']], 'front-proxy'))).toMatchObject({
      cacheFor: 'never',
    });
  });
  test('are hidden from other authenticators, whoever sends them', async () => {
    const seen: unknown[] = [];
    const spy = {
      cacheFor: 'never' as const,
      authenticate(request: Received) {
        seen.push(
          request.header('x-remote-user'),
          request.header('x-remote-extra-a'),
          request.header('x-other'),
          request.headers(),
          request.path,
        );
        return null;
      },
    };
    const all = point.of(() => spy) && point.combine([contributed(make()), contributed(spy)]);
    await all.authenticate(
      requestOf([
        ['x-remote-user', 'ann'],
        ['x-remote-extra-a', 'b'],
        ['x-other', 'c'],
      ]),
    );
    expect(seen).toEqual([undefined, undefined, 'c', [['x-other', 'c']], '/']);
  });
});
