import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Decision, Target, User } from '../../core/api/index.js';
import { namingOf, type NamingName } from '../../core/naming.js';
import { parseFieldSelector, parseLabelSelector } from '../../core/model/selectors/selectorSyntax.js';
import { SharedAnswers } from '../../core/services/webhooks/sharedAnswers.js';
import { webhookAuthorizer } from '../../plugins/authz/webhook/authorizer.js';
import { conditionsOf } from '../../plugins/authz/webhook/conditions.js';
import type { AccessWebhookConfig } from '../../plugins/authz/webhook/config.js';
import { target, user } from '../access/support.js';
import { authority, type TestAuthority } from '../authn/certificates.js';
import { TestWebhook } from '../authn/testWebhook.js';

let ca: TestAuthority;
let webhook: TestWebhook;
let folder: string;
const releases: (() => unknown)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'access-webhook-'));
  ca = await authority('webhook-ca');
  webhook = await TestWebhook.start(ca);
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
  const client = await ca.issue('api-server');
  writeFileSync(join(folder, 'client.crt'), client.certificate);
  writeFileSync(join(folder, 'client.key'), client.key);
});
afterEach(() => {
  for (const release of releases.splice(0)) release();
  webhook.calls.length = 0;
});
afterAll(() => {
  webhook.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
/** A kubeconfig for the webhook; its paths are relative to it. */
function kubeconfig(server = webhook.url): string {
  const path = join(folder, `${files++}.yaml`);
  const content = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' } }],
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

interface Options extends Partial<AccessWebhookConfig> {
  readonly naming?: NamingName;
  readonly shared?: SharedAnswers;
  readonly now?: () => number;
  readonly withSelectors?: boolean;
}

/** The authorizer in a pool thread. Threads with the same `answers` belong to one server. */
async function thread({
  naming = 'neutral',
  now = Date.now,
  shared = new SharedAnswers('x', now, 100, 5000),
  withSelectors = true,
  ...given
}: Options = {}) {
  const observed: string[] = [];
  const log = (): void => undefined;
  const config: AccessWebhookConfig = {
    name: 'default',
    file: kubeconfig(),
    version: 'v1',
    authorizedMs: 300_000,
    unauthorizedMs: 30_000,
    timeoutMs: 30_000,
    failurePolicy: 'NoOpinion',
    matchConditions: [],
    ...given,
  };
  const observe = (metric: string, labels: object, value: number): void => {
    const shown = metric.replace('apiserver_authorization_', '');
    if (shown.endsWith('_total')) observed.push(`${shown} ${Object.values(labels).join(' ')} ${value}`);
  };
  const host = {
    now,
    observe,
    naming: namingOf(naming),
    log: { debug: log, info: log, warn: log, error: log },
    onClose: (release: () => unknown) => void releases.push(release),
    isEnabled: (gate: string) => gate === 'AuthorizeWithSelectors' && withSelectors,
    service: () => ({
      state: () => undefined,
      ask: async (question: unknown) => structuredClone(await shared.ask(structuredClone(question))),
    }),
  };
  const authorizer = webhookAuthorizer(config, host, await conditionsOf(config.name, config.matchConditions, host));
  const ask = async (who: User = user('eve'), asked: Target = target({ namespace: 'a' })): Promise<Decision> =>
    await authorizer.authorize(who, asked);
  return { ask, observed };
}

const answers = (status: object, more: object = {}): void => {
  webhook.answer = ({ apiVersion }) => ({ apiVersion, kind: 'SubjectAccessReview', status, ...more });
};
/** The spec of the last review that the webhook received. */
const spec = (): Record<string, unknown> => JSON.parse(webhook.calls.at(-1)!.text).spec;

describe('a review', () => {
  test('is byte for byte what upstream sends [A166] [A397]', async () => {
    answers({ allowed: true });
    const { ask } = await thread({ naming: 'kubernetes' });
    const carol = { ...user('carol', 'system:authenticated'), uid: 'uid-carol' };
    await ask(carol, target({ namespace: 'allow', name: 'x' }));
    expect(webhook.calls[0]!.text).toBe(
      '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{"creationTimestamp":null},"spec":{"resourceAttributes":{"namespace":"allow","verb":"get","version":"v1","resource":"pods","name":"x"},"user":"carol","groups":["system:authenticated"],"uid":"uid-carol"},"status":{"allowed":false}}\n',
    );
    expect(webhook.calls[0]).toMatchObject({ url: '/authn?timeout=30s', client: 'api-server' });
  });

  test('is sent with the client certificate of the kubeconfig [A393] [A395]', async () => {
    answers({ allowed: true });
    await (await thread()).ask();
    expect(webhook.calls[0]!.client).toBe('api-server');
  });

  test.each([
    ['v1', 'groups'],
    ['v1beta1', 'group'],
  ] as const)('of %s has the groups as %s [A171] [A295] [A296] [A297]', async (version, member) => {
    answers({ allowed: true });
    const eve = {
      name: 'eve',
      uid: '7',
      groups: ['a', 'b'],
      extra: new Map([
        ['z', ['1', '2']],
        ['c', ['3']],
      ]),
    };
    await (await thread({ version })).ask(eve);
    expect(JSON.parse(webhook.calls[0]!.text).apiVersion).toBe(`authorization.orchestrator.io/${version}`);
    expect(spec()).toMatchObject({ user: 'eve', uid: '7', [member]: ['a', 'b'], extra: { c: ['3'], z: ['1', '2'] } });
  });

  test('of a resource has all attributes [A298] [A300] [A302] [A303] [A304] [A305]', async () => {
    answers({ allowed: true });
    const { ask } = await thread({ naming: 'kubernetes' });
    const group = 'rbac.authorization.orchestrator.io';
    await ask(
      user('eve'),
      target({ verb: 'patch', group, resource: 'roles', subresource: 's', namespace: 'n', name: 'x' }),
    );
    expect(spec()['resourceAttributes']).toEqual({
      namespace: 'n',
      verb: 'patch',
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      resource: 'roles',
      subresource: 's',
      name: 'x',
    });
  });

  test('of a non-resource path has path and verb [A299] [A301] [A403]', async () => {
    answers({ allowed: true });
    await (await thread()).ask(user('eve'), { is: 'path', verb: 'post', path: '/logs/x' });
    expect(spec()).toEqual({ nonResourceAttributes: { path: '/logs/x', verb: 'post' }, user: 'eve' });
  });

  test('has the requirements of selectors [A168] [A169] [A416] [A417]', async () => {
    answers({ allowed: true });
    const asked = target({
      verb: 'list',
      namespace: 'allow',
      path: '/api/v1/namespaces/allow/pods',
      labelSelector: parseLabelSelector('a in (b,c),x!=y,z,!u,n=m'),
      fieldSelector: parseFieldSelector('metadata.name=q,status.phase!=r'),
    });
    await (await thread()).ask(user('eve'), asked);
    expect(spec()['resourceAttributes']).toMatchObject({
      name: 'q',
      fieldSelector: {
        requirements: [
          { key: 'metadata.name', operator: 'In', values: ['q'] },
          { key: 'status.phase', operator: 'NotIn', values: ['r'] },
        ],
      },
      labelSelector: {
        requirements: expect.arrayContaining([
          { key: 'a', operator: 'In', values: ['b', 'c'] },
          { key: 'x', operator: 'NotIn', values: ['y'] },
          { key: 'z', operator: 'Exists' },
          { key: 'u', operator: 'DoesNotExist' },
          { key: 'n', operator: 'In', values: ['m'] },
        ]),
      },
    });
    await (await thread({ withSelectors: false })).ask(user('eve'), asked);
    expect(spec()['resourceAttributes']).not.toHaveProperty('fieldSelector');
    expect(spec()['resourceAttributes']).not.toHaveProperty('labelSelector');
  });
});

describe('an answer', () => {
  test.each([
    [
      { allowed: true, reason: 'r' },
      { is: 'allow', reason: 'r' },
    ],
    [
      { allowed: false, reason: 'r' },
      { is: 'noOpinion', reason: 'r' },
    ],
    [
      { allowed: false, denied: true, reason: 'r' },
      { is: 'deny', reason: 'r' },
    ],
    [
      { allowed: true, denied: true },
      { is: 'deny', reason: '' },
    ],
    [{}, { is: 'noOpinion', reason: '' }],
  ])('%j is %j; its spec is ignored [A399] [A400] [A401] [A402] [A172]', async (status, expected) => {
    answers(status, { spec: { user: 'admin', groups: ['system:masters'] } });
    expect(await (await thread()).ask()).toMatchObject(expected);
  });

  const v1 = 'authorization.orchestrator.io/v1';
  test.each<[string, object | string | number]>([
    ['of another version', { apiVersion: `${v1}beta1`, kind: 'SubjectAccessReview', status: { allowed: true } }],
    ['of another kind', { apiVersion: v1, kind: 'TokenReview', status: { allowed: true } }],
    ['with a string as allowed', { apiVersion: v1, kind: 'SubjectAccessReview', status: { allowed: 'true' } }],
    ['with a list as status', { apiVersion: v1, kind: 'SubjectAccessReview', status: [] }],
    ['with a number as reason', { apiVersion: v1, kind: 'SubjectAccessReview', status: { allowed: true, reason: 1 } }],
    ['that is not JSON', 'allowed'],
    ['that is an error', 403],
  ])('%s is a failure, whose effect the failure policy decides [A339] [A340] [A341]', async (_, answer) => {
    webhook.answer = () => answer;
    const open = await thread();
    expect((await open.ask()).is).toBe('noOpinion');
    expect(open.observed).toEqual([
      'webhook_evaluations_total default error 1',
      'webhook_evaluations_fail_open_total default error 1',
    ]);
    expect((await (await thread({ failurePolicy: 'Deny' })).ask()).is).toBe('deny');
  });

  test('that does not arrive in time is a failure', async () => {
    webhook.answer = () => 'hang';
    const { ask, observed } = await thread({ timeoutMs: 50, failurePolicy: 'Deny' });
    expect(await ask()).toMatchObject({ is: 'deny', dependsOn: 'never' });
    expect(observed).toEqual(['webhook_evaluations_total default timeout 1']);
  });

  test('is a failure if the webhook cannot be reached', async () => {
    const file = kubeconfig('https://localhost:1/x');
    expect((await (await thread({ file })).ask()).is).toBe('noOpinion');
    expect((await (await thread({ file, failurePolicy: 'Deny' })).ask()).is).toBe('deny');
  });
});

describe('answers', () => {
  test.each([
    [true, 300_000],
    [false, 30_000],
  ])('with allowed: %j are cached for %i ms [A333] [A334] [A446] [A447]', async (allowed, keptMs) => {
    answers({ allowed });
    let time = 1_000_000;
    const { ask } = await thread({ now: () => time });
    expect((await ask()).dependsOn).toBe(keptMs);
    time += keptMs - 1;
    expect((await ask()).dependsOn).toBe(1);
    expect(webhook.calls).toHaveLength(1);
    time += 1;
    await ask();
    expect(webhook.calls).toHaveLength(2);
    await ask(user('other'));
    expect(webhook.calls).toHaveLength(3);
  });

  test('to equal reviews in all threads need one call', async () => {
    answers({ allowed: true });
    const shared = new SharedAnswers('x', Date.now, 100, 5000);
    const file = kubeconfig();
    const threads = await Promise.all([thread({ shared, file }), thread({ shared, file }), thread({ shared, file })]);
    const asked = threads.flatMap(({ ask }) => Array.from({ length: 20 }, () => ask()));
    expect((await Promise.all(asked)).every(({ is }) => is === 'allow')).toBe(true);
    expect(webhook.calls).toHaveLength(1);
  });

  test('to one review are not used for another that differs in a single attribute', async () => {
    answers({ allowed: true });
    const { ask } = await thread();
    const who = { name: 'eve', uid: '1', groups: ['a', 'b'], extra: new Map([['k', ['v', 'w']]]) };
    const about = target({ namespace: 'a', name: 'n' });
    const term = (values: string[]) => [{ key: 'x', operator: 'in', values }] as const;
    const questions: readonly (readonly [User, Target])[] = [
      [who, about],
      [{ ...who, name: 'Eve' }, about],
      [{ ...who, uid: '' }, about],
      [{ ...who, groups: ['a,b'] }, about],
      [{ ...who, groups: ['a', 'B'] }, about],
      [{ ...who, groups: ['a'] }, about],
      [{ ...who, extra: new Map([['k', ['v,w']]]) }, about],
      [{ ...who, extra: new Map([['__proto__', ['v', 'w']]]) }, about],
      [who, { ...about, name: '' }],
      [who, { ...about, namespace: 'a/n' }],
      [who, { ...about, verb: 'delete' }],
      [who, { ...about, group: 'apps' }],
      [who, { ...about, resource: 'pods/log' }],
      [who, { ...about, subresource: 'log' }],
      [who, { ...about, labelSelector: term(['y', 'z']) }],
      [who, { ...about, labelSelector: term(['y,z']) }],
      [who, { ...about, fieldSelector: term(['y', 'z']) }],
      [who, { is: 'path', verb: 'get', path: '/a' }],
      [who, { is: 'path', verb: 'get', path: '/A' }],
    ];
    for (const [one, asked] of [...questions, ...questions]) await ask(one, asked);
    expect(webhook.calls).toHaveLength(questions.length);
    expect(new Set(webhook.calls.map(({ text }) => text)).size).toBe(questions.length);
  });

  test('are not cached if they failed, or if attributes are very long', async () => {
    webhook.answer = () => 403;
    const { ask } = await thread();
    await ask();
    await ask();
    expect(webhook.calls).toHaveLength(2);
    answers({ allowed: true });
    const long = target({ namespace: 'a', name: 'x'.repeat(10_000) });
    expect((await ask(user('eve'), long)).dependsOn).toBe('never');
    await ask(user('eve'), long);
    expect(webhook.calls).toHaveLength(4);
  });
});

describe('match conditions', () => {
  const inNamespace = `request.resourceAttributes.namespace == 'a'`;
  const failing = `int(request.user) > 0`;
  test.each<[string, readonly string[], boolean | 'fails']>([
    ['none [A345]', [], true],
    [
      'all hold [A344] [A347] [A461]',
      [inNamespace, `'dev' in request.groups`, `has(request.resourceAttributes)`],
      true,
    ],
    ['one does not [A346]', [inNamespace, `request.user == 'bob'`], false],
    ['an error beside one that does not [A346]', [failing, `request.user == 'bob'`], false],
    ['an error [A348]', [inNamespace, failing], 'fails'],
    ['a selector', [`request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'x')`], true],
    ['empty strings', [`request.uid == '' && request.resourceAttributes.group == ''`], true],
    ['no other attributes', [`has(request.nonResourceAttributes)`], false],
    ['the version', [`request.resourceAttributes.version == 'v1' && request.resourceAttributes.verb == 'list'`], true],
  ])('%s', async (_, matchConditions, expected) => {
    answers({ allowed: true });
    const asked = target({ verb: 'list', namespace: 'a', labelSelector: parseLabelSelector('x=y') });
    const open = await thread({ matchConditions });
    expect((await open.ask(user('eve', 'dev'), asked)).is).toBe(expected === true ? 'allow' : 'noOpinion');
    expect(webhook.calls).toHaveLength(expected === true ? 1 : 0);
    const closed = await thread({ matchConditions, failurePolicy: 'Deny' });
    const wanted = expected === true ? 'allow' : expected ? 'deny' : 'noOpinion';
    expect((await closed.ask(user('eve', 'dev'), asked)).is).toBe(wanted);
    const counted = open.observed.filter(one => one.startsWith('match_'));
    if (expected === false) expect(counted).toEqual(['match_condition_exclusions_total Webhook default 1']);
    if (expected === 'fails') expect(counted).toEqual(['match_condition_evaluation_errors_total Webhook default 1']);
  });
});
