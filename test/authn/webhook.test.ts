import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Identified, Refusal } from '../../core/api/index.js';
import { namingOf, type NamingName } from '../../core/naming.js';
import { SharedAnswers } from '../../core/services/webhooks/sharedAnswers.js';
import { readWebhookFile } from '../../core/services/webhooks/kubeconfig.js';
import { webhookTokens } from '../../plugins/authn/webhook/authenticator.js';
import { received } from '../access/support.js';
import { eventually } from '../support/eventually.js';
import { authority, type TestAuthority } from './certificates.js';
import { TestWebhook } from './testWebhook.js';

let ca: TestAuthority;
let webhook: TestWebhook;
let folder: string;
const releases: (() => unknown)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-'));
  ca = await authority('webhook-ca');
  webhook = await TestWebhook.start(ca);
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
  const client = await ca.issue('api-server');
  writeFileSync(join(folder, 'client.crt'), client.certificate);
  writeFileSync(join(folder, 'client.key'), client.key);
  writeFileSync(join(folder, 'other.key'), (await ca.issue('other')).key);
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
function kubeconfig({
  user = { 'client-certificate': 'client.crt', 'client-key': 'client.key' } as object,
  cluster = {},
  more = {},
  file = `${files++}.yaml`,
} = {}): string {
  const path = join(folder, file);
  const content = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: webhook.url, 'certificate-authority': 'ca.crt', ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const OWN = 'https://server.example';
const VALID = { authenticated: true, user: { username: 'wanda' } };

interface Options {
  readonly version?: 'v1' | 'v1beta1';
  readonly cacheMs?: number;
  readonly naming?: NamingName;
  readonly file?: string;
  readonly shared?: SharedAnswers;
  readonly now?: () => number;
}

/** The plugin in a pool thread. Threads with the same `answers` belong to one server. */
function authenticate({
  version = 'v1',
  cacheMs = 120_000,
  naming = 'neutral',
  file = kubeconfig(),
  now = Date.now,
  shared = new SharedAnswers('x', now, 100, 5000),
}: Options = {}) {
  const logged: string[] = [];
  const log = (_: object, message: string): void => void logged.push(message);
  const authenticator = webhookTokens(
    { file, version, cacheMs, audiences: [OWN] },
    {
      now,
      naming: namingOf(naming),
      log: { debug: log, info: log, warn: log, error: log },
      onClose: release => void releases.push(release),
      observe: () => undefined,
      service: () => ({
        state: () => undefined,
        ask: async question => structuredClone(await shared.ask(structuredClone(question))),
      }),
    },
  );
  const of = async (token: string, audiences?: string[]): Promise<Partial<Identified> & { error?: string }> => {
    try {
      const request = { ...received({ authorization: `Bearer ${token}` }), ...(audiences && { audiences }) };
      return ((await authenticator.authenticate(request)) as Identified) ?? {};
    } catch (thrown) {
      expect((thrown as Refusal).code).toBe(401);
      return { error: (thrown as Error).message };
    }
  };
  return { of, logged };
}

const answerWith = (status: unknown, more: object = {}): void => {
  webhook.answer = ({ apiVersion }) => ({ apiVersion, kind: 'TokenReview', status, ...more });
};

describe('a review of a token', () => {
  test.each([
    ['v1', 'neutral', 'authentication.orchestrator.io/v1'],
    ['v1beta1', 'neutral', 'authentication.orchestrator.io/v1beta1'],
    ['v1', 'kubernetes', 'authentication.k8s.io/v1'],
    ['v1beta1', 'kubernetes', 'authentication.k8s.io/v1beta1'],
  ] as const)(
    'of version %s in %s names is sent as upstream does [A034] [A035] [A036] [A037] [A165] [A201] [A398]',
    async (version, naming, apiVersion) => {
      answerWith(VALID);
      const { of } = authenticate({ version, naming });
      expect((await of('secret')).user).toMatchObject({ name: 'wanda', groups: [] });
      expect(webhook.calls).toEqual([
        {
          url: '/authn?timeout=30s',
          text: `{"kind":"TokenReview","apiVersion":"${apiVersion}","metadata":{"creationTimestamp":null},"spec":{"token":"secret","audiences":["${OWN}"]},"status":{"user":{}}}\n`,
          client: 'api-server',
          authorization: undefined,
        },
      ]);
    },
  );
  test('gives name, uid, groups and extra [A041] [A042]', async () => {
    answerWith({
      authenticated: true,
      user: { username: 'w', uid: 'u', groups: ['a', 'b'], extra: { k: ['x', 'y'] } },
    });
    expect((await authenticate().of('t')).user).toEqual({
      name: 'w',
      uid: 'u',
      groups: ['a', 'b'],
      extra: new Map([['k', ['x', 'y']]]),
    });
  });
  test.each([
    ['is not valid [A040] [A045]', { authenticated: false }, {}, 'Unauthorized'],
    ['is not valid, with a reason [A044]', { authenticated: false, error: 'no such token' }, {}, 'no such token'],
    ['has no user name [A041]', { authenticated: true, user: { groups: ['x'] } }, {}, 'has no status.user.username'],
    ['has no status', undefined, {}, 'Unauthorized'],
    [
      'is of another version [A034]',
      VALID,
      { apiVersion: 'authentication.orchestrator.io/v1beta1' },
      'and not of authentication.orchestrator.io/v1',
    ],
    ['is of another kind [A035]', VALID, { kind: 'SubjectAccessReview' }, 'has answered with SubjectAccessReview'],
    ['is malformed', { authenticated: 'true' }, {}, 'status.authenticated must be true or false'],
    [
      'has groups that are not a list',
      { authenticated: true, user: { username: 'w', groups: 'x' } },
      {},
      'status.user.groups must be a list',
    ],
    ['is for other audiences [A043]', { ...VALID, audiences: ['other'] }, {}, 'Unauthorized'],
  ])('that %s authenticates nobody', async (_, status, more, error) => {
    answerWith(status, more);
    expect((await authenticate().of('t')).error).toContain(error);
  });
  test.each([
    ['an error as well [A044]', { ...VALID, error: 'ignored' }, {}],
    ['another spec [A046]', VALID, { spec: { token: 'other' } }],
    ['the audience of the server [A043]', { ...VALID, audiences: ['other', OWN] }, {}],
    ['no version or kind', VALID, { apiVersion: '', kind: '' }],
  ])('that is valid and has %s authenticates', async (_, status, more) => {
    answerWith(status, more);
    expect((await authenticate().of('t')).user?.name).toBe('wanda');
  });
  test('is valid for those of the requested audiences that the webhook returns [A037] [A038] [A039]', async () => {
    const { of } = authenticate();
    answerWith({ ...VALID, audiences: ['y', 'z'] });
    expect((await of('a', ['x', 'y'])).audiences).toEqual(['y']);
    expect(JSON.parse(webhook.calls[0]!.text).spec.audiences).toEqual(['x', 'y']);
    answerWith(VALID);
    expect((await of('b', ['x'])).error).toBe('Unauthorized');
    expect((await of('c', ['x', OWN])).audiences).toEqual([OWN]);
  });
  test.each([400, 401, 403, 404, 503])('answered with code %i fails, and is not retried at once', async code => {
    webhook.answer = () => code;
    const { of, logged } = authenticate();
    expect((await of('t')).error).not.toBe('Unauthorized');
    expect(webhook.calls).toHaveLength(1);
    expect(logged).toHaveLength(1);
  });
  test('is retried after a pause if the webhook has failed', async () => {
    let left = 2;
    webhook.answer = ({ apiVersion }) => (left-- > 0 ? 500 : { apiVersion, kind: 'TokenReview', status: VALID });
    expect((await authenticate().of('t')).user?.name).toBe('wanda');
    expect(webhook.calls).toHaveLength(3);
  });
});

describe('answers', () => {
  test('are cached for the configured time, for valid and invalid tokens [A199] [A200]', async () => {
    let time = 1000;
    const { of } = authenticate({ cacheMs: 300, now: () => time });
    answerWith(VALID);
    for (let i = 0; i < 5; i++) expect(await of('t')).toMatchObject({ cacheFor: 300 });
    answerWith({ authenticated: false });
    for (let i = 0; i < 5; i++) await of('bad');
    expect(webhook.calls).toHaveLength(2);
    time += 299;
    // Identities are cached elsewhere no longer than the answer.
    expect(await of('t')).toMatchObject({ cacheFor: 1 });
    time += 1;
    expect((await of('t')).error).toBeDefined();
  });
  test('that are failures are logged once a second as long as they occur', async () => {
    let time = 1000;
    const { of, logged } = authenticate({ now: () => time });
    answerWith({ authenticated: false, error: 'later' });
    for (; time <= 3400; time += 400) await of('t');
    expect(logged).toEqual(Array(3).fill('the webhook for tokens has failed: later'));
  });
  test('that are failures are not cached', async () => {
    const { of } = authenticate();
    answerWith({ authenticated: false, error: 'later' });
    expect((await of('t')).error).toBe('later');
    answerWith(VALID);
    expect((await of('t')).user?.name).toBe('wanda');
  });
  test('are not cached with a time of 0 [A200]', async () => {
    const { of } = authenticate({ cacheMs: 0 });
    answerWith(VALID);
    expect(await of('t')).toMatchObject({ cacheFor: 'never' });
    await of('t');
    expect(webhook.calls).toHaveLength(2);
  });
  test('to equal reviews at the same time are shared by all threads [A200]', async () => {
    const shared = new SharedAnswers('x', Date.now, 100, 5000);
    const threads = [1, 2, 3].map(() => authenticate({ shared }));
    let release!: () => void;
    const held = new Promise<void>(resolve => (release = resolve));
    webhook.answer = async ({ apiVersion }) => {
      await held;
      return { apiVersion, kind: 'TokenReview', status: VALID };
    };
    const all = threads.flatMap(({ of }) => [of('t'), of('t')]);
    await eventually(() => webhook.calls.length === 1);
    release();
    expect((await Promise.all(all)).map(({ user }) => user?.name)).toEqual(Array(6).fill('wanda'));
    expect(webhook.calls).toHaveLength(1);
    expect((await threads[2]!.of('t')).user?.name).toBe('wanda');
    expect(webhook.calls).toHaveLength(1);
  });
  test('of a webhook that hangs delay only requests that need them', async () => {
    webhook.answer = ({ apiVersion, spec }) =>
      spec.token === 'slow' ? 'hang' : { apiVersion, kind: 'TokenReview', status: VALID };
    const { of } = authenticate();
    void of('slow');
    await eventually(() => webhook.calls.length === 1);
    expect((await of('quick')).user?.name).toBe('wanda');
  });
  test('are limited in number: the oldest is dropped', () => {
    const shared = new SharedAnswers('x', () => 0, 2, 5000);
    for (const key of ['a', 'b', 'c']) {
      expect(shared.ask({ is: 'get', key })).toEqual({ is: 'find' });
      void shared.ask({ is: 'found', key, answer: { value: key, until: 10 } });
    }
    expect(shared.ask({ is: 'get', key: 'c' })).toMatchObject({ is: 'found', answer: { value: 'c' } });
    expect(shared.ask({ is: 'get', key: 'a' })).toEqual({ is: 'find' });
  });
  test('are requested by another thread if the first one does not deliver them in time', async () => {
    const shared = new SharedAnswers('x', () => 0, 2, 20);
    expect(shared.ask({ is: 'get', key: 'a' })).toEqual({ is: 'find' });
    expect(await shared.ask({ is: 'get', key: 'a' })).toEqual({ is: 'find' });
  });
});

describe('the kubeconfig of a webhook', () => {
  test('names a client certificate, a token or a password [A202] [A203]', async () => {
    answerWith(VALID);
    writeFileSync(join(folder, 'token'), 'from-file\n');
    await authenticate({ file: kubeconfig({ user: { tokenFile: 'token' } }) }).of('a');
    await authenticate({ file: kubeconfig({ user: { username: 'u', password: 'p' } }) }).of('b');
    expect(webhook.calls.map(({ authorization }) => authorization)).toEqual(['Bearer from-file', 'Basic dTpw']);
    expect(webhook.calls.map(({ client }) => client)).toEqual([undefined, undefined]);
  });
  test('is read again when it, or a file that it names, changes', async () => {
    answerWith(VALID);
    writeFileSync(join(folder, 'rotating'), 'first');
    const { of, logged } = authenticate({ file: kubeconfig({ user: { tokenFile: 'rotating' } }), cacheMs: 0 });
    await of('a');
    writeFileSync(join(folder, 'rotating'), 'second');
    await eventually(async () => {
      await of('a');
      return webhook.calls.at(-1)!.authorization === 'Bearer second';
    });
    rmSync(join(folder, 'rotating'));
    await eventually(() => logged.join().includes('is not used, and the former one stays'));
    await of('a');
    expect(webhook.calls.at(-1)!.authorization).toBe('Bearer second');
  });
  test('trusts the webhook by its CA [A202]', async () => {
    answerWith(VALID);
    writeFileSync(join(folder, 'other.crt'), (await authority('other')).certificate);
    const { of } = authenticate({ file: kubeconfig({ cluster: { 'certificate-authority': 'other.crt' } }) });
    expect((await of('t')).error).toContain('certificate signed by unknown authority');
  });
  test.each([
    ['no current context [A204]', { more: { 'current-context': '' } }, 'current-context: is missing'],
    ['an unknown context [A204]', { more: { 'current-context': 'x' } }, 'contexts: there is none with the name "x"'],
    ['an unknown cluster [A204]', { more: { clusters: [] } }, 'clusters: there is none with the name "c"'],
    ['an unknown user [A204]', { more: { users: [] } }, 'users: there is none with the name "u"'],
    ['a server that is not a URL [A202]', { cluster: { server: 'x' } }, 'cluster.server: must be a URL'],
    [
      'a server with parameters',
      { cluster: { server: 'https://x/?a=b' } },
      'cluster.server: must have neither parameters',
    ],
    ['no key for its certificate [A203]', { user: { 'client-certificate': 'client.crt' } }, 'needs both'],
    [
      'an invalid certificate',
      { user: { 'client-certificate': 'token.x', 'client-key': 'client.key' } },
      'cannot read',
    ],
    [
      'a key of another certificate',
      { user: { 'client-certificate': 'client.crt', 'client-key': 'other.key' } },
      'user.client-key: does not belong to client-certificate',
    ],
    ['a token of two lines', { user: { token: 'a\nb' } }, 'user.token: must have visible ASCII characters only'],
    ['a command', { user: { exec: { command: 'x' } } }, 'user.exec: is not supported'],
    ['a proxy', { cluster: { 'proxy-url': 'http://p' } }, 'cluster.proxy-url: is not supported'],
  ])('with %s is refused, with the file and the field', (_, options, message) => {
    const file = kubeconfig(options);
    expect(() => readWebhookFile(file, { allowsHttp: true })).toThrow(`${file}: ${message}`.slice(0, file.length + 2));
    expect(() => readWebhookFile(file, { allowsHttp: true })).toThrow(message);
  });
  test('may name a server without TLS only for tokens [A202] [A394]', () => {
    const file = kubeconfig({ cluster: { server: 'http://localhost:1' } });
    expect(readWebhookFile(file, { allowsHttp: true }).endpoint.url).toBe('http://localhost:1');
    expect(() => readWebhookFile(file, { allowsHttp: false })).toThrow('must begin with https://');
  });
  test.each([
    ['https', { token: 'secret' }],
    ['http', {}],
  ])('has the credentials of a user only for a server with TLS: %s', (protocol, credentials) => {
    const file = kubeconfig({ cluster: { server: `${protocol}://localhost:1` }, user: { token: 'secret' } });
    expect(readWebhookFile(file, { allowsHttp: true }).endpoint.credentials).toEqual(credentials);
  });
});
