import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ANONYMOUS,
  type Authenticator,
  authenticator,
  type CacheFor,
  ConfigError,
  type Host,
  Refusal,
  type User,
} from '../../core/api/index.js';
import { completeUser, identify } from '../../core/access/identity.js';
import { namingOf } from '../../core/naming.js';
import { bearerToken } from '../../plugins/authn/bearer.js';
import { clientCertificates } from '../../plugins/authn/clientCertificate.js';
import staticToken, { staticTokens } from '../../plugins/authn/staticToken.js';
import { digest, parseTokenFile } from '../../plugins/authn/tokenFile.js';
import { CERTIFICATES } from './data/certificates.js';
import { contributed, received, user } from './support.js';

const status = (call: () => unknown): number | undefined => {
  try {
    call();
    return undefined;
  } catch (thrown) {
    return (thrown as Refusal).code;
  }
};

describe('bearer tokens', () => {
  test.each([
    ['Bearer good', 'good'],
    ['bearer good', 'good'],
    ['BEARER good', 'good'],
    ['  Bearer good  ', 'good'],
    ['Bearer good extra', 'good'],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['BEARER   good', undefined],
    ['Basic Z29vZA==', undefined],
    ['Token good', undefined],
    ['good', undefined],
    ['', undefined],
  ])('%j carries %j [A181]', (authorization, expected) =>
    expect(bearerToken(received({ authorization }))).toBe(expected),
  );
  test('a request without the header has no token', () => expect(bearerToken(received())).toBeUndefined());
});

describe('static token file', () => {
  const table = parseTokenFile(
    'admin-token,admin,uid-1,system:masters\r\n\nbob-token,bob,uid-2\n"a,""b",Quoted,uid-3,"dev, qa",ops\n,skipped,uid\n',
    'tokens.csv',
  );
  const of = (token: string): User | undefined => table.get(digest(token));

  test('yields name, uid and groups; a quoted column may contain several groups [A184]', () => {
    expect(table.size).toBe(3);
    expect(of('admin-token')).toMatchObject({ name: 'admin', uid: 'uid-1', groups: ['system:masters'] });
    expect(of('bob-token')).toMatchObject({ name: 'bob', uid: 'uid-2', groups: [] });
    expect(of('a,"b')).toMatchObject({ name: 'Quoted', groups: ['dev', 'qa', 'ops'] });
  });
  test.each([
    ['two columns [A184]', 'a,b,c\nx,y\n', 'f:2: expected at least 3 columns (token, user name, user uid), found 2'],
    ['an open quote', 'a,b,c\n\n"x,y,z\n', 'f:3: a quoted field does not end'],
    ['a stray quote', 'a,b"x,c', 'f:1: a quote inside a field that is not quoted'],
    ['text after a quote', '"a\nb",b,c\n"x"y,b,c', 'f:3: text after the closing quote of a field'],
  ])('%s fails the start with an error that names the line', (_, text, message) => {
    expect(() => parseTokenFile(text, 'f')).toThrow(new ConfigError(message.slice(0, 3), message.slice(5)));
  });
  test('quoted values are parsed correctly', () => {
    const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
    const field = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(field, field, field, (token, name, uid) => {
        const found = parseTokenFile([token, name, uid].map(quoted).join(','), 'f').get(digest(token));
        expect(found).toMatchObject({ name, uid });
      }),
    );
  });
  test('fails only with a ConfigError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a') }), text => {
        try {
          parseTokenFile(text, 'f');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ConfigError);
        }
      }),
    );
  });

  test('authenticates its tokens, refuses others with 401, and ignores other credentials', () => {
    const tokens = staticTokens(table);
    expect(tokens.authenticate(received({ authorization: 'Bearer bob-token' }))).toMatchObject({ name: 'bob' });
    expect(status(() => tokens.authenticate(received({ authorization: 'Bearer BOB-TOKEN' })))).toBe(401);
    expect(tokens.authenticate(received({ authorization: 'Basic x' }))).toBeNull();
    expect(tokens.authenticate(received())).toBeNull();
  });

  test('the plugin reads its file once, at start [A186]', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tokens-')), 'tokens.csv');
    writeFileSync(file, 'old,olga,1\n');
    const [contribution] = staticToken.contribute(staticToken.parse({ file }));
    const made = (await contribution?.make({} as Host)) as ReturnType<typeof staticTokens>;
    writeFileSync(file, 'new,nora,1\n');
    expect(made.authenticate(received({ authorization: 'Bearer old' }))).toMatchObject({ name: 'olga' });
    expect(status(() => made.authenticate(received({ authorization: 'Bearer new' })))).toBe(401);
    expect(() => staticToken.parse({})).toThrow('file: expected the path of a token file');
    const [absent] = staticToken.contribute({ file: `${file}.absent` });
    expect(() => absent?.make({} as Host)).toThrow(ConfigError);
  });
});

describe('client certificates', () => {
  const naming = namingOf('kubernetes');
  type Which = keyof typeof CERTIFICATES;
  const { validFrom, validTo } = new X509Certificate(CERTIFICATES.plain);
  const from = Date.parse(validFrom);
  const until = Date.parse(validTo);
  const authenticate = (which: Which, now = from + 60_000) =>
    clientCertificates({ now: () => now, naming, onClose: () => undefined }).authenticate(
      received({}, CERTIFICATES[which]),
    );

  test('the common name is the user, each organization a group [A007] [A183]', () => {
    expect(authenticate('plain')).toMatchObject({ name: 'jane', uid: '', groups: ['dev', 'qa, and more'] });
    expect(authenticate('client')).toMatchObject({ name: 'jane', groups: [] });
  });
  test('its fingerprint is the credential id among the extras', async () => {
    const fingerprint = createHash('sha256').update(new X509Certificate(CERTIFICATES.plain).raw).digest('hex');
    const found = (await authenticate('plain')) as User;
    expect([...found.extra]).toEqual([['authentication.kubernetes.io/credential-id', [`X509SHA256=${fingerprint}`]]]);
  });
  test('a request without certificate, or with one without common name, is left to other authenticators', () => {
    expect(
      clientCertificates({ now: () => from, naming, onClose: () => undefined }).authenticate(received()),
    ).toBeNull();
    expect(authenticate('nameless')).toBeNull();
  });
  test.each([
    ['expired', 'plain', until + 1000],
    ['not yet valid', 'plain', from - 1000],
    ['for servers only', 'server', from + 60_000],
  ] as const)('a certificate that is %s is refused with 401', (_, which, now) =>
    expect(status(() => authenticate(which, now))).toBe(401),
  );
  test('a certificate that expires during its connection is refused afterwards', () => {
    let now = from;
    const authn = clientCertificates({ now: () => now, naming, onClose: () => undefined });
    expect(authn.authenticate(received({}, CERTIFICATES.plain))).toMatchObject({ name: 'jane' });
    now = until + 1000;
    expect(status(() => authn.authenticate(received({}, CERTIFICATES.plain)))).toBe(401);
  });
});

describe('the identity of a request', () => {
  const everyone = { enabled: true };
  test('authenticated users are in system:authenticated once [A015]', () => {
    expect(completeUser(user('bob', 'dev')).groups).toEqual(['dev', 'system:authenticated']);
    expect(completeUser(user('bob', 'system:authenticated')).groups).toEqual(['system:authenticated']);
    expect(completeUser(ANONYMOUS)).toBe(ANONYMOUS);
  });
  test('without credentials it is anonymous, if that is allowed [A206] [A272]', () => {
    expect(identify(null, everyone, '/x')).toBe(ANONYMOUS);
    expect(status(() => identify(null, { enabled: false }, '/x'))).toBe(401);
  });
  test('anonymous requests can be restricted to paths [A256] [A257]', () => {
    const policy = { enabled: true, paths: ['/livez'] };
    expect(identify(null, policy, '/livez')).toBe(ANONYMOUS);
    expect(status(() => identify(null, policy, '/version'))).toBe(401);
    expect(identify(user('bob'), policy, '/version').name).toBe('bob');
  });
  test('a 401 has one body for every cause [A273]', () => {
    try {
      identify(null, { enabled: false }, '/');
      expect.unreachable();
    } catch (thrown) {
      expect((thrown as Refusal).toStatus()).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      });
    }
  });
  test('a token that one file refuses is accepted if a later authenticator knows it [A178] [A179]', async () => {
    const files = ['one,olga,1', 'two,tom,2'].map(text => contributed(staticTokens(parseTokenFile(text, 'f'))));
    const all = authenticator.combine(files);
    expect((await all.authenticate(received({ authorization: 'Bearer two' }))).user?.name).toBe('tom');
    await expect(all.authenticate(received({ authorization: 'Bearer three' }))).rejects.toBeInstanceOf(Refusal);
    expect((await all.authenticate(received())).user).toBeNull();
  });
  test('has no lone surrogates: names that differ only in these are equal everywhere', async () => {
    const extra = new Map([['key\udc00', ['value\ud800']]]);
    const odd: User = { name: 'a\ud800', uid: '\udc00', groups: ['g\ud800'], extra };
    const finder: Authenticator = { cacheFor: 'never', authenticate: () => odd };
    const { user: found } = await authenticator.combine([contributed(finder)]).authenticate(received());
    expect(found).toEqual({
      name: 'a\ufffd',
      uid: '\ufffd',
      groups: ['g\ufffd'],
      extra: new Map([['key\ufffd', ['value\ufffd']]]),
    });
  });
  test('an identity is cached no longer than any authenticator that was called allows', async () => {
    const says = (answer: User | null | Refusal, cacheFor: CacheFor) =>
      contributed({
        cacheFor,
        authenticate: () => {
          if (answer instanceof Refusal) throw answer;
          return answer;
        },
      });
    const tom: User = { name: 'tom', uid: '', groups: [], extra: new Map() };
    const bad = new Refusal('Unauthorized', 'Unauthorized');
    const cacheForOf = async (...all: ReturnType<typeof says>[]) =>
      (await authenticator.combine(all).authenticate(received())).cacheFor;
    expect(await cacheForOf(says(tom, 'forever'), says(null, 'never'))).toBe('forever');
    expect(await cacheForOf(says(null, 1000), says(tom, 'forever'))).toBe(1000);
    expect(await cacheForOf(says(bad, 2000), says(null, 1000), says(tom, 3000))).toBe(1000);
    expect(await cacheForOf(says(null, 'never'), says(tom, 1000))).toBe('never');
    expect(await cacheForOf(says(null, 'forever'))).toBe('forever');
    expect(await cacheForOf(says(null, 'forever'), says(null, 5))).toBe(5);
    expect(await cacheForOf()).toBe('forever');
  });
});
