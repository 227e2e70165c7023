import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Endpoints } from '../../core/services/webhooks/endpoint.js';
import { CallFailed, type CallOptions, WebhookClient } from '../../core/services/webhooks/client.js';
import { readCredentials } from '../../core/services/webhooks/credentials.js';
import { WEBHOOK_SOCKETS } from '../../core/limits.js';
import { eventually } from '../support/eventually.js';
import { Hooks } from './hooks.js';

/* The HTTPS client of webhooks, with a server of hooks. */

let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
});
afterAll(() => hooks.close());

/** Calls a hook several times with one client, and returns the outcomes. */
async function call(path: string, times: number, options?: CallOptions): Promise<(number | string)[]> {
  const client = new WebhookClient();
  const outcomes: (number | string)[] = [];
  for (let time = 0; time < times; time++) {
    const endpoint = { url: hooks.url + path, ca: hooks.ca.certificate };
    const sent = client.post(endpoint, JSON.stringify({ request: { uid: `${time}` } }), 5000, options);
    outcomes.push(
      await sent.then(
        answer => answer.status,
        error => (error as Error).message,
      ),
    );
  }
  client.close();
  return outcomes;
}

describe('a webhook that closes a connection', () => {
  test('is not called again if the connection was new', async () => {
    hooks.on('/never', () => ({ hangsUp: true }));
    expect(await call('/never', 1)).toEqual([`Post "${hooks.url}/never": EOF`]);
    expect(hooks.take('/never')).toHaveLength(1);
  });

  test('is not called again if the connection had been kept: it may have acted on the request', async () => {
    let calls = 0;
    hooks.on('/closes', () => ({ hangsUp: ++calls === 2 }));
    expect(await call('/closes', 3)).toEqual([200, `Post "${hooks.url}/closes": EOF`, 200]);
    expect(calls).toBe(3);
  });

  test('is called again if the call is repeatable and the connection had been kept', async () => {
    let calls = 0;
    hooks.on('/repeated', () => ({ hangsUp: ++calls === 2 }));
    expect(await call('/repeated', 2, { isRepeatable: true })).toEqual([200, 200]);
    expect(calls).toBe(3);
    hooks.on('/repeated', () => ({ hangsUp: true }));
    expect(await call('/repeated', 1, { isRepeatable: true })).toEqual([`Post "${hooks.url}/repeated": EOF`]);
  });
});

test('calls of many webhooks at the same time do not end each other, and few idle connections are kept', async () => {
  const client = new WebhookClient();
  const many = WEBHOOK_SOCKETS + 6;
  let arrived = 0;
  let answerAll: () => void = () => undefined;
  const all = new Promise<void>(resolve => (answerAll = resolve));
  hooks.on('/together', async () => {
    if (++arrived === many) answerAll();
    await all;
    return {};
  });
  const open = (): Promise<number> =>
    new Promise((resolve, reject) =>
      hooks.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  const call = (name: string) => {
    const endpoint = { url: `${hooks.url}/together`, serverName: name, skipsVerification: true };
    return client.post(endpoint, '{"request":{}}', 10_000).then(({ status }) => status);
  };
  const answers = Array.from({ length: many }, (_, i) => call(`hook-${i}.default.svc`));
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  expect(await call('one-more.default.svc')).toBe(200);
  await eventually(async () => (await open()) <= WEBHOOK_SOCKETS);
  client.close();
});

test.each([
  ['a token', { token: 'a\nb' }, 'Invalid character in header content ["authorization"]'],
  ['a certificate', { certificate: 'none', key: 'none' }, 'no start line'],
])('%s that cannot be sent fails the call at once, and nothing afterwards', async (_, credentials, why) => {
  const client = new WebhookClient();
  const called = client.post({ url: `${hooks.url}/never`, ca: hooks.ca.certificate, credentials }, '{}', 20);
  await expect(called).rejects.toThrow(CallFailed);
  await expect(called).rejects.toThrow(why);
  // The time of the first call ends before that of this one.
  hooks.on('/hangs', () => new Promise(() => undefined));
  const later = client.post({ url: `${hooks.url}/hangs`, ca: hooks.ca.certificate }, '{}', 40);
  await expect(later).rejects.toThrow('context deadline exceeded');
  client.close();
});

test.each([
  ['/a%2Fb', '/a/b'],
  ['/a%2fb%2F', '/a/b'],
  ['', '/'],
  ['/x//y/./z/..', '/x/y'],
  ['/x/%2e%2e/y', '/y'],
  ['/q%3Fa%23b', '/q%3Fa%23b'],
  ["/it's*(1)!", '/it%27s%2A%281%29%21'],
  ['/\u00fc%FF%20%25', '/%C3%BC%FF%20%25'],
  ['/a\\b', '/a%5Cb'],
  ['/$&+,:;=@~-_.', '/$&+,:;=@~-_.'],
])('the path %j of a URL is sent as %j, decoded and joined as in upstream', (given, called) => {
  const endpoints = new Endpoints({ services: {}, credentials: new Map() }, { get: () => undefined } as never);
  const { url } = endpoints.of({ url: `https://hooks.example:8443${given}` }, '?timeout=1s');
  expect(url).toBe(`https://hooks.example:8443${called}?timeout=1s`);
});

describe('the kubeconfig with the credentials for webhooks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-credentials-'));
  const file = join(folder, 'kubeconfig');
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (user: object) => {
    writeFileSync(file, JSON.stringify({ kind: 'Config', users: [{ name: 'hook.example', user }] }));
    return readCredentials(file).get('hook.example');
  };

  test('yields those of each host', () => {
    writeFileSync(join(folder, 'token'), 'secret\n');
    expect(read({ tokenFile: 'token' })).toEqual({ token: 'secret' });
    expect(read({ username: 'ann', password: 'p' })).toEqual({ username: 'ann', password: 'p' });
  });

  test.each([
    [{ tokenFile: 'none' }, 'user.tokenFile: cannot read'],
    [{ 'client-certificate-data': 'eA==' }, 'user: needs both client-certificate and client-key'],
    [{ exec: {} }, 'user.exec: is not supported; use a client certificate or a token'],
  ])('is refused with the file and the field for %j', (user, why) => {
    expect(() => read(user)).toThrow(`${file}: ${why}`);
  });
});
