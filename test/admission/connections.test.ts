import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { Hooks, install } from './hooks.js';

/* Admission of connections to pods, which this server does not forward, and connections to webhooks. */

const PODS = '/api/v1/namespaces/default/pods';

let api: Api;
let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
  api = await Api.start();
  await api.until(async () => (await api.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200);
  await api.made(PODS, { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } });
  const resources = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy'];
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources }];
  await install(api, 'Validating', 'connects', hooks.webhook('/connects', { rules, objectSelector: {} }));
});
afterAll(async () => {
  await api.close();
  await hooks.close();
});

test.each(['exec', 'attach', 'portforward', 'proxy'])('%s is admitted for GET as for POST', async sub => {
  hooks.on('/connects', () => ({}));
  for (const method of ['GET', 'POST'] as const) {
    expect((await api.call(method, `${PODS}/p/${sub}?container=c`)).status).toBe(405);
    const [call, ...more] = hooks.take('/connects');
    expect(more).toEqual([]);
    expect(call!.request).toMatchObject({ operation: 'CONNECT', name: 'p', subResource: sub, oldObject: null });
  }
});

test('a connection that a webhook denies is refused, whether or not there is a pod', async () => {
  hooks.on('/connects', () => ({ allowed: false, status: { code: 403, message: 'not here' } }));
  for (const name of ['p', 'none']) {
    const { status, body } = await api.get(`${PODS}/${name}/exec?container=c&command=sh`);
    expect([status, body['message']]).toEqual([
      403,
      'admission webhook "connects.example.com" denied the request: not here',
    ]);
  }
  hooks.on('/connects', () => ({}));
  expect((await api.get(`${PODS}/none/exec?container=c`)).body['message']).toBe('pods "none" not found');
  expect((await api.get(`${PODS}/none:80/proxy/x`)).body['message']).toBe('pods "none" not found');
});

test('a webhook call gets no more time than the request has left', async () => {
  await install(api, 'Validating', 'hurried', hooks.webhook('/hurried', { timeoutSeconds: 10 }));
  hooks.on('/hurried', () => new Promise<never>(() => undefined));
  const object = { metadata: { name: 'hurried', labels: { hook: 'hurried' } } };
  const { status, body } = await api.post('/api/v1/namespaces/default/configmaps?timeout=1500ms', object);
  expect(status).toBe(500);
  expect(body['message']).toBe(
    'Internal error occurred: failed calling webhook "hurried.example.com": failed to call webhook: ' +
      `Post "${hooks.url}/hurried?timeout=2s": context deadline exceeded`,
  );
});
