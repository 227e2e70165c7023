import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';
import { Api } from '../api/support.js';

const use = pathToFileURL(resolve('dist/test/server/fixtures/hanging.js')).href;

test('while a plugin hangs for some requests, others are answered, and the server can close', async () => {
  const api = await Api.start({ plugins: [{ use }] });
  const maps = `${await api.namespace('hanging')}/configmaps`;
  const agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 64 });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const hanging = Array.from({ length: 32 }, (_, i) =>
    request(api.server.url + maps, {
      method: 'POST',
      dispatcher: agent,
      signal: stop.signal,
      headers: { authorization: `Bearer ${api.server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: `hanging-${i}`, labels: { hang: 'yes' } } }),
    }).catch(() => undefined),
  );
  const beside = Array.from({ length: 32 }, (_, i) => api.post(maps, { metadata: { name: `beside-${i}` } }));
  for (const { status } of await Promise.all(beside)) expect(status).toBe(201);
  stop.abort();
  await Promise.all(hanging);
  await agent.destroy();
  const began = performance.now();
  await api.close();
  expect(performance.now() - began).toBeLessThan(10_000);
});
