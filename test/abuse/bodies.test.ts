import { afterAll, beforeAll, expect, test } from 'vitest';
import { BODY_BYTES } from '../../core/limits.js';
import { Api } from '../api/support.js';
import { headOf, RawConnection } from './connection.js';

/** More bytes than the server allows for all request bodies together. */
const CONNECTIONS = 200;
const PATH = '/api/v1/namespaces/default/configmaps';

let api: Api;
let connections: RawConnection[] = [];
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

/** Opens connections that announce a large body each, send a part of it, and then stop. */
async function announce(headers: { readonly [name: string]: string }): Promise<void> {
  connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(api.server.url)));
  for (const connection of connections) {
    const head = { 'content-type': 'application/json', 'content-length': BODY_BYTES, ...headers };
    connection.send(`${headOf('POST', PATH, head)}{"metadata":`);
  }
}

async function expectCreates(prefix: string): Promise<void> {
  const creates = Array.from({ length: 20 }, (_, i) => api.post(PATH, { metadata: { name: `${prefix}-${i}` } }));
  for (const { status } of await Promise.all(creates)) expect(status).toBe(201);
  for (const connection of connections) connection.close();
}

test('anonymous clients that announce large bodies are refused at once, and other users can still create objects', async () => {
  await announce({});
  await api.until(async () => connections.every(({ received }) => /^HTTP\/1.1 403 /.test(received)));
  await expectCreates('beside-anonymous');
});

test('requests with unknown tokens and large announced bodies are refused at once, and other users can still create objects', async () => {
  await announce({ authorization: 'Bearer unknown' });
  await api.until(async () => connections.every(({ received }) => /^HTTP\/1.1 401 /.test(received)));
  await expectCreates('beside-unknown');
});

test('a user that announces large bodies and sends little of them blocks neither its own requests nor those of others', async () => {
  await announce({ authorization: `Bearer ${api.server.token}` });
  await expectCreates('beside-known');
});
