import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Target, User } from '../../core/api/index.js';
import { type Naming, namingOf } from '../../core/naming.js';
import { abacAuthorizer } from '../../plugins/authz/abac/authorizer.js';
import { abacService } from '../../plugins/authz/abac/background.js';
import { type Policy, readPolicies } from '../../plugins/authz/abac/policy.js';
import { target, user } from '../access/support.js';
import { Api } from '../api/support.js';
import { startServer } from '../server/library.js';
import { eventuallyPasses } from '../support/eventually.js';

const EVERYBODY = 'system:authenticated';
const ANONYMOUS = user('system:anonymous', 'system:unauthenticated');
const neutral = namingOf('neutral');
const GROUP = 'abac.authorization.orchestrator.io';

/** A line in the form with a version. */
const line = (spec: object, { naming = neutral, version = 'v1beta1', kind = 'Policy' } = {}): string =>
  JSON.stringify({ apiVersion: naming.apiVersion(`${GROUP}/${version}`), kind, spec });

const read = (text: string, naming: Naming = neutral) => readPolicies(Buffer.from(text), 'policies', naming);

function authorizer(lines: readonly string[], naming: Naming = neutral) {
  const { policies } = read(lines.join('\n'), naming);
  return abacAuthorizer({ naming, service: () => ({ state: () => policies, ask: async () => undefined }) });
}

async function allows(lines: readonly string[], who: User, asked: Target, naming?: Naming): Promise<boolean> {
  return (await authorizer(lines, naming).authorize(who, asked)).is === 'allow';
}

const path = (at: string, verb = 'get'): Target => ({ is: 'path', verb, path: at });
const bob = user('bob', 'dev', EVERYBODY);
const pods = { resource: 'pods', namespace: 'a', apiGroup: '' };
const ofPods = (more: Parameters<typeof target>[0] = {}): Target => target({ namespace: 'a', ...more });

describe('a policy', () => {
  test('may apply to a user [A421], or to a group [A422]', async () => {
    expect(await allows([line({ user: 'bob', ...pods })], bob, ofPods())).toBe(true);
    expect(await allows([line({ user: 'eve', ...pods })], bob, ofPods())).toBe(false);
    expect(await allows([line({ group: 'dev', ...pods })], bob, ofPods())).toBe(true);
    expect(await allows([line({ group: 'qa', ...pods })], bob, ofPods())).toBe(false);
    expect(await allows([line(pods)], bob, ofPods())).toBe(false);
  });

  test('with user and group applies to a user in the group; any line suffices [A431x]', async () => {
    const both = line({ user: 'bob', group: 'qa', ...pods });
    expect(await allows([both], bob, ofPods())).toBe(false);
    expect(await allows([both], user('bob', 'qa'), ofPods())).toBe(true);
    expect(await allows([both, line({ user: 'bob', ...pods })], bob, ofPods())).toBe(true);
    expect(await authorizer([both]).authorize(bob, ofPods())).toEqual({
      is: 'noOpinion',
      reason: 'No policy matched.',
    });
  });

  test('explains a denial by the closest lines, with the members that do not match', async () => {
    const lines = [
      line({ user: 'eve', ...pods }),
      line({ user: 'bob', ...pods, namespace: 'b', readonly: true }),
      line({ group: 'dev', ...pods, readonly: true }),
    ];
    const explained = await authorizer(lines).explain!(bob, ofPods({ verb: 'create' }));
    expect(explained.rules.map(({ source, missing }) => [source, missing])).toEqual([
      ['line 3 of the policy file', ['verb']],
      ['line 2 of the policy file', ['verb', 'namespace']],
    ]);
    expect(JSON.parse(explained.rules[0]!.rule)).toMatchObject({ group: 'dev', resource: 'pods' });
    const allowed = await authorizer(lines).explain!(bob, ofPods());
    expect(allowed.rules.map(({ missing }) => missing)).toEqual([[]]);
    const path = line({ user: 'bob', nonResourcePath: '/healthz' });
    const ofPath = await authorizer([...lines, path]).explain!(bob, { is: 'path', verb: 'get', path: '/metrics' });
    expect(ofPath.rules.map(({ source, missing }) => [source, missing])).toEqual([
      ['line 4 of the policy file', ['path']],
    ]);
  });

  test('may apply to all authenticated users [A423], or to unauthenticated ones [A424]', async () => {
    expect(await allows([line({ group: EVERYBODY, ...pods })], bob, ofPods())).toBe(true);
    expect(await allows([line({ group: EVERYBODY, ...pods })], ANONYMOUS, ofPods())).toBe(false);
    expect(await allows([line({ group: 'system:unauthenticated', ...pods })], ANONYMOUS, ofPods())).toBe(true);
    expect(await allows([line({ group: 'system:unauthenticated', ...pods })], bob, ofPods())).toBe(false);
  });

  test.each([{ user: '*' }, { group: '*' }, { user: '*', group: 'qa' }])(
    'with a wildcard as subject does not cover the anonymous user [A276] [A277]: %j',
    async subject => {
      expect(await allows([line({ ...subject, ...pods })], bob, ofPods())).toBe(true);
      expect(await allows([line({ ...subject, ...pods })], ANONYMOUS, ofPods())).toBe(false);
    },
  );

  test.each([
    ['apiGroup [A425]', { apiGroup: 'apps' }, { group: 'apps' }],
    ['namespace [A426]', { namespace: 'b' }, { namespace: 'b' }],
    ['resource [A427]', { resource: 'secrets' }, { resource: 'secrets' }],
  ])('matches by %s, exactly or with *', async (_, spec, members) => {
    const name = Object.keys(spec)[0]!;
    expect(await allows([line({ user: 'bob', ...pods, ...spec })], bob, ofPods(members))).toBe(true);
    expect(await allows([line({ user: 'bob', ...pods, ...spec })], bob, ofPods())).toBe(false);
    expect(await allows([line({ user: 'bob', ...pods, [name]: '*' })], bob, ofPods(members))).toBe(true);
    expect(await allows([line({ user: 'bob', ...pods })], bob, ofPods(members))).toBe(false);
  });

  test('names API groups in the naming of the server', async () => {
    const asked = ofPods({ group: 'rbac.authorization.orchestrator.io' });
    const kubernetes = namingOf('kubernetes');
    const policy = line({ user: 'bob', ...pods, apiGroup: 'rbac.authorization.k8s.io' }, { naming: kubernetes });
    expect(await allows([policy], bob, asked, kubernetes)).toBe(true);
    expect(() => read(policy)).toThrow(/apiVersion must be/);
  });

  test.each([
    ['*', '/version', true],
    ['/version', '/version', true],
    ['/version', '/version/x', false],
    ['/foo/*', '/foo/', true],
    ['/foo/*', '/foo/a/b', true],
    ['/foo/*', '/foo', false],
    ['', '/version', false],
  ])('for the path %j covers %j: %j [A428]', async (nonResourcePath, at, expected) => {
    expect(await allows([line({ user: 'bob', nonResourcePath })], bob, path(at))).toBe(expected);
    expect(await allows([line({ user: 'bob', nonResourcePath })], bob, ofPods())).toBe(false);
  });

  test('that is readonly allows only get, list and watch [A429] [A430x]', async () => {
    const policies = [line({ user: 'bob', ...pods, readonly: true, nonResourcePath: '*' })];
    for (const verb of ['get', 'list', 'watch'] as const)
      expect(await allows(policies, bob, ofPods({ verb }))).toBe(true);
    for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection'] as const)
      expect(await allows(policies, bob, ofPods({ verb }))).toBe(false);
    expect(await allows(policies, bob, path('/x'))).toBe(true);
    expect(await allows(policies, bob, path('/x', 'post'))).toBe(false);
    expect(await allows([line({ user: 'bob', ...pods })], bob, ofPods({ verb: 'create' }))).toBe(true);
  });

  test.each([
    ['in a namespace', { user: 'bob', namespace: 'a' }, { apps: true, other: false, path: false, anonymous: false }],
    ['of a resource', { user: 'bob', resource: 'pods' }, { apps: true, other: true, path: false, anonymous: false }],
    ['for everybody', {}, { apps: true, other: true, path: true, anonymous: false }],
    ['with a wildcard', { user: '*' }, { apps: true, other: true, path: true, anonymous: false }],
  ])('without a version matches any value of members that it does not name: %s', async (_, policy, expected) => {
    const lines = [JSON.stringify(policy)];
    expect({
      apps: await allows(lines, bob, ofPods({ group: 'apps' })),
      other: await allows(lines, bob, ofPods({ namespace: 'b' })),
      path: await allows(lines, bob, path('/x')),
      anonymous: await allows(lines, ANONYMOUS, ofPods()),
    }).toEqual(expected);
    const versioned = JSON.stringify({ apiVersion: `${GROUP}/v0`, kind: 'Policy', ...policy });
    expect(await allows([versioned], bob, ofPods())).toBe(true);
  });

  test('is shown in reviews of rules', async () => {
    const lines = [
      line({ user: 'bob', ...pods, readonly: true }),
      line({ user: 'bob', ...pods, namespace: 'b' }),
      line({ group: 'dev', namespace: '*', nonResourcePath: '/logs/*' }),
    ];
    expect(await authorizer(lines).rulesFor!(bob, 'a')).toEqual({
      resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
      pathRules: [{ verbs: ['*'], nonResourceURLs: ['/logs/*'] }],
    });
  });
});

describe('a policy file', () => {
  test.each([
    ['[]', /^policies: line 1: must be one JSON object/],
    ['\n# x\n[{}]', /^policies: line 3: must be one JSON object/],
    ['{', /^policies: line 1: is not JSON/],
    [`${line({ user: 'x' })} ${line({ user: 'x' })}`, /^policies: line 1: is not JSON/],
    [line({}, { version: 'v1' }), /line 1: apiVersion must be abac\.authorization\.orchestrator\.io\/v1beta1, not/],
    [line({}, { kind: 'Rule' }), /line 1: kind must be Policy, not "Rule"/],
    [JSON.stringify({ apiVersion: `${GROUP}/v1beta1`, spec: {} }), /line 1: kind must be Policy, not ""/],
    [line({ user: 1 }), /line 1: spec\.user must be a string/],
    [line({ readonly: 'yes' }), /line 1: spec\.readonly must be true or false/],
    ['{"namespace":[]}', /line 1: namespace must be a string/],
  ])('%# is refused with the number of the invalid line [A419] [A420]', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test('may have comments and empty lines', () => {
    expect(read(`# all of us\n\n  ${line({ user: 'bob' })}\r\n{"user":"eve"}\n`)).toMatchObject({
      policies: [{ user: 'bob' }, { user: 'eve', namespace: '*' }],
      unversioned: [4],
    });
  });
});

describe('a server', () => {
  let folder: string;
  let file: string;
  let api: Api;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abac-'));
    file = join(folder, 'policies');
    writeFileSync(file, line({ user: 'alice', namespace: '*', resource: 'configmaps', apiGroup: '' }));
    const tokenAuthFile = join(folder, 'tokens');
    writeFileSync(tokenAuthFile, 'alice-token,alice,1\nbob-token,bob,2');
    const authorizationMode = ['RBAC', 'ABAC'] as const;
    api = await Api.start({ naming: 'neutral', tokenAuthFile, authorizationMode, authorizationPolicyFile: file });
  });
  afterAll(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });
  const list = async (token: string): Promise<number> =>
    (await api.get('/api/v1/namespaces/default/configmaps', { token })).status;

  test('allows requests that RBAC or ABAC allow, and reads a changed file [A321] [A364] [A418]', async () => {
    expect([await list('alice-token'), await list('bob-token'), await list('')]).toEqual([200, 403, 403]);
    const refused = await api.get('/api/v1/namespaces/default/pods', { token: 'alice-token' });
    expect(await api.decisionOf(refused)).toMatchObject({
      authorization: {
        authorizers: expect.arrayContaining([
          {
            name: 'abac',
            decision: 'NoOpinion',
            reason: 'No policy matched.',
            rules: [expect.objectContaining({ source: 'line 1 of the policy file', missing: ['resource'] })],
          },
        ]),
        grant: expect.stringContaining('name: alice'),
      },
    });
    // Discovery is allowed by RBAC.
    expect((await api.get('/version', { token: 'bob-token' })).status).toBe(200);
    writeFileSync(join(folder, 'next'), line({ user: 'bob', namespace: '*', resource: 'configmaps', apiGroup: '' }));
    renameSync(join(folder, 'next'), file);
    await eventuallyPasses(async () =>
      expect([await list('alice-token'), await list('bob-token')]).toEqual([403, 200]),
    );
  });

  test('keeps its policies when the file becomes invalid', async () => {
    const watched = join(folder, 'watched');
    const published: (readonly Policy[])[] = [];
    const logged: string[] = [];
    const log = (_: object, message: string): void => void logged.push(message);
    const releases: (() => unknown)[] = [];
    const service = abacService(watched, {
      naming: neutral,
      log: { debug: log, info: log, warn: log, error: log },
      onClose: release => void releases.push(release),
    });
    writeFileSync(watched, '{"user":"bob"}');
    await service.start(state => void published.push(state as readonly Policy[]));
    writeFileSync(watched, '\n[]');
    await eventuallyPasses(() => expect(logged.join()).toContain('line 2: must be one JSON object'));
    expect(published).toMatchObject([[{ user: 'bob' }]]);
    writeFileSync(watched, '{"user":"eve"}');
    await eventuallyPasses(() => expect(published).toMatchObject([[{ user: 'bob' }], [{ user: 'eve' }]]));
    for (const release of releases) release();
  });

  test.each([
    [{ authorizationMode: ['ABAC'] }, /--authorization-mode: ABAC needs --authorization-policy-file too/],
    [{ authorizationPolicyFile: '/x' }, /--authorization-policy-file: needs ABAC in --authorization-mode/],
    [{ authorizationMode: ['ABAC'], authorizationPolicyFile: '/none/x' }, /--authorization-policy-file: .*\/none\/x/],
  ] as const)('%# does not start without mode and file together [A418]', async (settings, message) => {
    await expect(startServer({ ...settings, storage: 'memory', port: 0 })).rejects.toThrow(message);
  });
});
