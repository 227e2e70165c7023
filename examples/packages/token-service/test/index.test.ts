import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { authenticator } from 'capstan/api';
import { authenticatorConformance, fakeHost, partsOf, received, startTestServer } from 'capstan/testing';
import plugin from '../src/index.js';

/** A service that knows one token, and one for which it fails. */
const service = createServer(async (request, response) => {
  const token = new URLSearchParams(await text(request)).get('token');
  if (token === 'broken') response.writeHead(500);
  response.end(
    JSON.stringify(token === 'good' ? { active: true, username: 'ann', groups: ['dev'] } : { active: false }),
  );
});
service.listen(0, '127.0.0.1');
await once(service, 'listening');
after(() => service.close());

const config = { url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/introspect` };
const make = async () => (await partsOf(plugin, config, authenticator, fakeHost('pool').host))[0]!;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const good = { request: bearer('good'), name: 'ann', groups: ['dev'] };

for (const { name, run } of authenticatorConformance({ make, good, bad: [bearer('bad')] })) test(name, run);

test('authenticates nobody when the service fails', async () => {
  await assert.rejects(async () => (await make()).authenticate(received(bearer('broken'))), /answered 500/);
});

test('refuses invalid settings', () => {
  assert.throws(() => plugin.parse({ url: 'nowhere' }), /^ConfigError: url: must be the URL of the service$/);
  assert.throws(() => plugin.parse({ ...config, cacheMs: -1 }), /^ConfigError: cacheMs: must be a number/);
});

test('identifies the sender of a request to a server', async () => {
  const use = fileURLToPath(new URL('../src/index.js', import.meta.url));
  const server = await startTestServer({ plugins: [{ use, config }] });
  try {
    const get = (token: string) => server.request('GET', '/api/v1/namespaces/default/configmaps', { token });
    assert.match((await get('good')).body.message, /User "ann" cannot list/);
    assert.deepEqual([(await get('bad')).status, (await get('broken')).status], [401, 401]);
  } finally {
    await server.close();
  }
});
