import { describe, expect, test } from 'vitest';
import { namingOf, type NamingName } from '../../core/naming.js';
import { readAuthenticationFile } from '../../plugins/authn/jwt/file.js';
import { authority } from './certificates.js';

/* The members of an authenticator that the tests change. */
const authenticator = () => ({
  issuer: { url: 'https://issuer.example', audiences: ['aud'] } as Record<string, unknown>,
  claimMappings: { username: { claim: 'sub', prefix: '' } } as Record<string, unknown>,
});
type Authenticator = ReturnType<typeof authenticator> & Record<string, unknown>;

const fileOf = (jwt: readonly unknown[], more: object = {}): object => ({
  apiVersion: 'apiserver.config.orchestrator.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt,
  ...more,
});

const read = (content: unknown, { naming = 'neutral' as NamingName, allowsAnonymous = true } = {}) =>
  readAuthenticationFile(Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)), 'authn.yaml', {
    naming: namingOf(naming),
    ownIssuers: ['https://own.example'],
    allowsAnonymous,
  });

/** The message of the refusal; undefined if the file is accepted. */
async function refusal(content: unknown, options?: Parameters<typeof read>[1]): Promise<string | undefined> {
  return await read(content, options).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** The refusal of a file with one changed authenticator; undefined if it is accepted. */
function refusalOf(change: (one: Authenticator) => void): Promise<string | undefined> {
  const one = authenticator() as Authenticator;
  change(one);
  return refusal(fileOf([one]));
}

describe('an authentication file', () => {
  test.each(['v1beta1', 'v1alpha1'])('is accepted in version %s, in both namings [A228] [R563x]', async version => {
    for (const [naming, domain] of [
      ['neutral', 'orchestrator.io'],
      ['kubernetes', 'k8s.io'],
    ] as const) {
      const apiVersion = `apiserver.config.${domain}/${version}`;
      expect(await refusal({ ...fileOf([authenticator()]), apiVersion }, { naming })).toBeUndefined();
    }
  });

  test.each([
    ['another version', { apiVersion: 'apiserver.config.orchestrator.io/v1' }, 'apiVersion: must be apiserver.config'],
    ['no version', { apiVersion: undefined }, 'apiVersion: must be'],
    ['another kind', { kind: 'AuthorizationConfiguration' }, 'kind: must be AuthenticationConfiguration'],
    ['an unknown field', { foo: 1 }, 'foo: unknown field'],
    ['a value that is not a list', { jwt: {} }, 'jwt: must be a list, not an object'],
  ])('with %s is refused, with the file and the field [A228]', async (_, more, message) =>
    expect(await refusal({ ...fileOf([authenticator()]), ...more })).toContain(`authn.yaml: ${message}`),
  );
  test('that is empty, or not YAML, is refused', async () => {
    expect(await refusal('')).toBe('authn.yaml: is empty');
    expect(await refusal('a: [')).toContain('authn.yaml: ');
    expect(await refusal('text')).toContain('must hold a AuthenticationConfiguration');
  });
  test('may be YAML', async () => {
    const { jwt } = await read(`apiVersion: apiserver.config.orchestrator.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: 'https://a.example', audiences: [x]}
  claimMappings: {username: {claim: sub, prefix: 'a:'}}
`);
    expect(jwt).toMatchObject([{ issuer: { url: 'https://a.example' }, username: { claim: 'sub', prefix: 'a:' } }]);
  });
  test('may have several issuers, at most 64 [A232] [A443]', async () => {
    const many = (count: number) =>
      fileOf(
        Array.from({ length: count }, (_, i) => ({
          ...authenticator(),
          issuer: { url: `https://i${i}.example`, audiences: ['a'] },
        })),
      );
    expect((await read(many(64))).jwt).toHaveLength(64);
    expect(await refusal(many(65))).toContain('jwt: has 65 items; it must have at most 64');
  });
});

describe('the issuer', () => {
  test.each([
    ['', 'url: is missing'],
    ['http://issuer.example', 'must begin with https://'],
    ['issuer.example', 'must begin with https://'],
    ['https://user:pw@issuer.example', 'must not contain a user name or password'],
    ['https://issuer.example?x=1', 'must not contain a query'],
    ['https://issuer.example#x', 'must not contain a fragment'],
    ['https://issuer.example/%zz', 'is not a URL'],
    ['https://iss uer', 'is not a URL'],
  ])('has an https URL, not %j [A233]', async (url, message) =>
    expect(await refusalOf(one => Object.assign(one.issuer, { url }))).toContain(message),
  );
  test('must differ from that of an earlier authenticator [A233]', async () =>
    expect(await refusal(fileOf([authenticator(), authenticator()]))).toContain('jwt[1].issuer.url: is the same as'));
  test('must differ from the issuer of service account tokens [A234]', async () =>
    expect(await refusalOf(one => Object.assign(one.issuer, { url: 'https://own.example' }))).toContain(
      "jwt[0].issuer.url: must not be the issuer of this server's own tokens",
    ));
  test('may have another discovery URL, which differs and is unique [A235] [A236]', async () => {
    const discovery = (discoveryURL: string) => refusalOf(one => Object.assign(one.issuer, { discoveryURL }));
    expect(await discovery('https://other.example/path')).toBeUndefined();
    expect(await discovery('https://issuer.example')).toContain('discoveryURL: must differ from url');
    expect(await discovery('https://issuer.example/')).toContain('discoveryURL: must differ from url');
    expect(await discovery('http://other.example')).toContain('discoveryURL: must begin with https://');
    const two = ['https://a.example', 'https://b.example'].map(url => ({
      ...authenticator(),
      issuer: { url, audiences: ['a'], discoveryURL: 'https://d.example' },
    }));
    expect(await refusal(fileOf(two))).toContain('jwt[1].issuer.discoveryURL: is the same as');
  });
  test('must have a CA in PEM [A238]', async () => {
    const ca = (certificateAuthority: string) => refusalOf(one => Object.assign(one.issuer, { certificateAuthority }));
    expect(await ca((await authority('x')).certificate)).toBeUndefined();
    expect(await ca('junk')).toContain('certificateAuthority: must have at least one certificate in PEM');
    expect(await ca('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')).toContain('cannot be parsed');
  });
  test('must have audiences, and MatchAny if there are several [A239] [A240]', async () => {
    const of = (audiences: unknown, audienceMatchPolicy?: string) =>
      refusalOf(one => Object.assign(one.issuer, { audiences, audienceMatchPolicy }));
    expect(await of(['a'])).toBeUndefined();
    expect(await of(['a', 'b'], 'MatchAny')).toBeUndefined();
    expect(await of(['a', 'b'])).toContain('audienceMatchPolicy: must be MatchAny where there are several audiences');
    expect(await of(['a'], 'MatchAll')).toContain('audienceMatchPolicy: must be MatchAny, or omitted');
    expect(await of([])).toContain('audiences: must have at least one audience');
    expect(await of(['a', ''], 'MatchAny')).toContain('audiences[1]: must not be empty');
    expect(await of(['a', 'a'], 'MatchAny')).toContain('audiences[1]: is the same as');
  });
  test('must not have an egress selector [A263]', async () =>
    expect(await refusalOf(one => Object.assign(one.issuer, { egressSelectorType: 'cluster' }))).toContain(
      'egressSelectorType: egress selectors are not supported',
    ));
});

describe('rules', () => {
  test.each([
    [[{ claim: 'a', requiredValue: 'b' }], undefined],
    [[{ claim: 'a' }], undefined],
    [[{ expression: 'claims.a == "b"', message: 'm' }], undefined],
    [[{ expression: 'has(claims.a)' }], undefined],
    [[{}], 'claimValidationRules[0]: must have a claim or an expression'],
    [[{ claim: 'a', expression: 'true' }], 'claim and expression exclude each other'],
    [[{ claim: 'a', requiredValue: 'b', message: 'm' }], 'message: is for expressions'],
    [[{ expression: 'true', requiredValue: 'b' }], 'requiredValue: is for claims'],
    [[{ claim: 'a' }, { claim: 'a' }], 'claimValidationRules[1].claim: is the same as'],
    [[{ expression: 'true' }, { expression: 'true' }], 'claimValidationRules[1].expression: is the same as'],
    [[{ expression: 'claims.a' }], 'must evaluate to bool'],
    [[{ expression: '"a"' }], 'must evaluate to bool'],
    [[{ expression: 'claims.' }], 'does not compile'],
    [[{ expression: 'user.username == "a"' }], "undeclared reference to 'user'"],
  ])('about claims: %j [A241] [A242] [A459]', async (claimValidationRules, message) => {
    const found = await refusalOf(one => Object.assign(one, { claimValidationRules }));
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(message);
  });
  test.each([
    [[{ expression: "!user.username.startsWith('system:')", message: 'no' }], undefined],
    [[{ expression: "user.extra['a'][0] == user.uid && user.groups.all(g, g != '')" }], undefined],
    [[{}], 'userValidationRules[0].expression: is missing'],
    [[{ expression: 'user.username' }], 'must evaluate to bool'],
    [[{ expression: 'claims.a == "b"' }], "undeclared reference to 'claims'"],
    [[{ expression: 'user.foo == "x"' }], 'does not compile'],
  ])('about the user: %j [A253] [A460]', async (userValidationRules, message) => {
    const found = await refusalOf(one => Object.assign(one, { userValidationRules }));
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(message);
  });
});

describe('mappings', () => {
  const refusalOfMappings = (mappings: object) => refusalOf(one => Object.assign(one.claimMappings, mappings));
  test('of the user name must be a claim with a prefix, or an expression [A243] [A244]', async () => {
    expect(await refusalOfMappings({ username: { claim: 'sub', prefix: 'x:' } })).toBeUndefined();
    expect(await refusalOfMappings({ username: { expression: 'claims.name + "!"' } })).toBeUndefined();
    expect(await refusalOfMappings({ username: undefined })).toContain('username: must have a claim or an expression');
    expect(await refusalOfMappings({ username: { claim: 'sub' } })).toContain('username.prefix: is missing');
    expect(await refusalOfMappings({ username: { claim: 'a', prefix: '', expression: 'claims.a' } })).toContain(
      'exclude',
    );
    expect(await refusalOfMappings({ username: { prefix: 'x', expression: 'claims.a' } })).toContain(
      'username.prefix: is for claims',
    );
    expect(await refusalOfMappings({ username: { expression: 'claims.a +' } })).toContain('does not compile');
  });
  test.each([
    ['claims.email', {}, false],
    ['"a" + claims.email', {}, false],
    ['claims.?email.orValue("x")', {}, false],
    ['has(claims.email) ? "a" : "b"', {}, false],
    ['claims.a.email', {}, true],
    ['"claims.email"', {}, true],
    ['claims.email_verified ? claims.email : ""', {}, true],
    ['claims.email', { claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }] }, true],
    ['claims.email', { claimValidationRules: [{ claim: 'email_verified', requiredValue: 'true' }] }, false],
    ['claims.email', { userValidationRules: [{ expression: 'true' }] }, false],
  ])(
    'of the user name that use an email check that it is verified: %s, %j [A245]',
    async (expression, more, accepted) => {
      const found = await refusalOf(one => {
        Object.assign(one.claimMappings, { username: { expression } });
        Object.assign(one, more);
      });
      if (accepted) expect(found).toBeUndefined();
      else expect(found).toContain('claims.email_verified must be used as well');
    },
  );
  test('of groups and uid must be claims or expressions [A247] [A248]', async () => {
    expect(await refusalOfMappings({ groups: { claim: 'g', prefix: '' }, uid: { claim: 'u' } })).toBeUndefined();
    expect(
      await refusalOfMappings({ groups: { expression: 'claims.g' }, uid: { expression: 'claims.u' } }),
    ).toBeUndefined();
    expect(await refusalOfMappings({ groups: { claim: 'g' } })).toContain('groups.prefix: is missing');
    expect(await refusalOfMappings({ uid: { claim: 'u', expression: 'claims.u' } })).toContain(
      'uid: claim and expression exclude',
    );
    expect(await refusalOfMappings({ uid: { claim: 'u', prefix: 'x' } })).toContain('uid.prefix: unknown field');
  });
  test.each([
    ['example.com/team', undefined],
    ['example.com/a/b%20c', undefined],
    ['', 'extra[0].key: is missing'],
    ['foo', 'must be a domain, a slash and a name'],
    ['exa_mple.com/a', 'must begin with a domain'],
    ['example.com/a b', 'must have characters of a URL path'],
    ['example.com/', 'must have characters of a URL path'],
    ['example.com/Team', 'must be in lower case'],
    ['orchestrator.io/x', 'reserved for the system'],
    ['a.orchestrator.io/x', 'reserved for the system'],
  ])('of extra have keys with a domain: %j [A249] [A250] [A251] [A252]', async (key, message) => {
    const found = await refusalOfMappings({ extra: [{ key, valueExpression: 'claims.a' }] });
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(message);
  });
  test('of extra must have unique keys, with a value [A249] [A251]', async () => {
    const one = { key: 'example.com/a', valueExpression: 'claims.a' };
    expect(await refusalOfMappings({ extra: [one, one] })).toContain('extra[1].key: is the same as');
    expect(await refusalOfMappings({ extra: [{ key: 'example.com/a' }] })).toContain(
      'extra[0].valueExpression: is missing',
    );
  });
  test('of extra must not have domains that the other naming reserves [A252]', async () => {
    const one = {
      ...authenticator(),
      claimMappings: {
        username: { claim: 's', prefix: '' },
        extra: [{ key: 'x.k8s.io/a', valueExpression: 'claims.a' }],
      },
    };
    const content = { ...fileOf([one]), apiVersion: 'apiserver.config.k8s.io/v1beta1' };
    expect(await refusal(content, { naming: 'kubernetes' })).toContain('reserved for the system: x.k8s.io');
  });
});

describe('anonymous', () => {
  const anonymous = (value: object, options?: Parameters<typeof read>[1]) =>
    refusal(fileOf([], { anonymous: value }), options);
  test('is enabled or disabled, for all paths or some [A254] [A256] [A449]', async () => {
    expect((await read(fileOf([], { anonymous: { enabled: true } }))).anonymous).toEqual({ enabled: true });
    const limited = { enabled: true, conditions: [{ path: '/livez' }, { path: '/healthz' }] };
    expect((await read(fileOf([], { anonymous: limited }))).anonymous).toEqual({
      enabled: true,
      paths: ['/livez', '/healthz'],
    });
  });
  test('may have conditions only if it is on and the gate is enabled [A254] [A449]', async () => {
    expect(await anonymous({ enabled: false, conditions: [{ path: '/livez' }] })).toContain('anonymous.conditions: ');
    expect(await anonymous({ enabled: 'true' })).toContain('anonymous.enabled: must be true or false, not string');
    expect(await anonymous({ enabled: true }, { allowsAnonymous: false })).toContain(
      'AnonymousAuthConfigurableEndpoints',
    );
  });
});
