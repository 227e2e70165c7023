import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { afterAll, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from './library.js';
import { writeStore } from '../support/writtenStore.js';

/** Few connections, because on a busy machine a thousand concurrent handshakes take longer than a client waits. */
const agent = new Agent({ connections: 32, connect: { rejectUnauthorized: false } });
afterAll(() => agent.close());

/** Enough for a page of the first snapshot, of 500 objects, without any of other resources. */
const OBJECTS = 1200;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const PODS = '/api/v1/namespaces/default/pods';
const SERVICE_ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

interface Answer {
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly name?: string; readonly uid?: string };
  readonly status?: { readonly token?: string };
  readonly items?: readonly { readonly metadata: { readonly name: string } }[];
}

async function call(server: RunningServer, method: 'GET' | 'POST', path: string, body?: object) {
  const { statusCode: status, body: answer } = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status, body: (await answer.json()) as Answer };
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { serviceAccountName: 'bot', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
});

/** A data directory with many objects in the default namespace, as if an earlier run had stored them. */
async function directoryWith(
  storageName: string,
  prefix: string,
  make: (name: string) => ReturnType<typeof configMap>,
): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'capstan-loading-'));
  const objects = Array.from({ length: OBJECTS }, (_, i) => {
    const name = `${prefix}${i}`;
    const metadata = { name, namespace: 'default', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
    const object = { ...make(name), metadata: { ...metadata, resourceVersion: '1' } };
    return [`${storageName}/default/${name}`, object] as const;
  });
  await writeStore(dataDir, objects);
  return dataDir;
}

/** The number of ConfigMaps of the test in a list. The server creates one in each namespace. */
const count = ({ body }: { readonly body: Answer }): number =>
  body.items!.filter(({ metadata }) => /^(c\d+|new)$/.test(metadata.name)).length;

/** Records that a promise is resolved. */
function track<T>(promise: Promise<T>): { readonly result: Promise<T>; isDone: boolean } {
  const note = { result: promise, isDone: false };
  void promise.then(() => {
    note.isDone = true;
  });
  return note;
}

it('serves resources as soon as they are loaded; requests for the others wait and get complete answers', async () => {
  const dataDir = await directoryWith('core/configmaps', 'c', configMap);
  const file = join(dataDir, 'held');
  const common = { dataDir, port: 0 } as const;
  const first = await startServer(common);
  await call(first, 'POST', SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'small' } });
  await first.close();
  writeFileSync(file, '');
  const use = pathToFileURL(resolve('dist/test/server/fixtures/heldStorage.js')).href;
  const config = { path: join(dataDir, 'store'), prefix: 'core/configmaps/', file };
  const server = await startServer({ ...common, plugins: [{ use, config }] });
  try {
    const waiting = [
      track(call(server, 'GET', CONFIG_MAPS)),
      track(call(server, 'GET', `${CONFIG_MAPS}/c${OBJECTS - 1}`)),
      track(call(server, 'GET', `${CONFIG_MAPS}/absent`)),
      track(call(server, 'POST', CONFIG_MAPS, configMap('new'))),
    ] as const;
    const secrets = await call(server, 'GET', SECRETS);
    expect(secrets.body.items).toHaveLength(1);
    expect(await call(server, 'GET', `${SECRETS}/absent`)).toMatchObject({ status: 404 });
    const headers = { authorization: `Bearer ${server.token}` };
    expect((await request(`${server.url}/readyz`, { dispatcher: agent, headers })).statusCode).toBe(500);
    // A watch from an earlier revision sees the waiting write.
    const { resourceVersion } = secrets.body.metadata!;
    const watched = await request(
      `${server.url}${SECRETS}?watch=true&timeoutSeconds=20&resourceVersion=${resourceVersion}`,
      { dispatcher: agent, headers },
    );
    const secret = call(server, 'POST', SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'later' } });
    expect((await call(server, 'GET', SECRETS)).body.items).toHaveLength(1);
    expect(waiting.map(({ isDone }) => isDone)).toEqual([false, false, false, false]);
    rmSync(file);
    const [list, last, absent, created] = await Promise.all(waiting.map(({ result }) => result));
    expect([last!.status, absent!.status, created!.status]).toEqual([200, 404, 201]);
    // The new object may be in the list.
    expect([OBJECTS, OBJECTS + 1]).toContain(count(list!));
    expect((await secret).status).toBe(201);
    let events = '';
    for await (const chunk of watched.body) {
      events += String(chunk);
      if (events.includes('"name":"later"')) break;
    }
    expect(count(await call(server, 'GET', CONFIG_MAPS))).toBe(OBJECTS + 1);
  } finally {
    await server.close();
    rmSync(dataDir, { recursive: true });
  }
});

it('answers from the cache while a token waits for the objects it depends on, and then finds its pod', async () => {
  const dataDir = await directoryWith('core/pods', 'p', pod);
  const common = { dataDir, port: 0 } as const;
  const first = await startServer(common);
  await call(first, 'POST', SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot' } });
  // Its key is the last one in the order of loading.
  const { body: bound } = await call(first, 'GET', `${PODS}/p999`);
  const { name, uid } = bound.metadata!;
  const tokenRequest = { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } } };
  const { body: issued } = await call(first, 'POST', `${SERVICE_ACCOUNTS}/bot/token`, tokenRequest);
  await first.close();
  const file = join(dataDir, 'held');
  writeFileSync(file, '');
  const use = pathToFileURL(resolve('dist/test/server/fixtures/heldStorage.js')).href;
  const config = { path: join(dataDir, 'store'), prefix: 'core/pods/', file };
  const server = await startServer({ ...common, plugins: [{ use, config }] });
  try {
    expect((await call(server, 'GET', SERVICE_ACCOUNTS)).status).toBe(200);
    const asPod = track(
      request(`${server.url}/api`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${issued.status!.token}` },
      }),
    );
    // These do not need the pool, whose thread waits and would refuse the token meanwhile.
    for (let i = 0; i < 200; i++) expect((await call(server, 'GET', SERVICE_ACCOUNTS)).status).toBe(200);
    expect(asPod.isDone).toBe(false);
    rmSync(file);
    expect((await asPod.result).statusCode).toBe(200);
  } finally {
    rmSync(file, { force: true });
    await server.close();
    rmSync(dataDir, { recursive: true });
  }
});

it('can be closed while it is still loading objects', async () => {
  const dataDir = await directoryWith('core/configmaps', 'c', configMap);
  const common = { dataDir, port: 0 } as const;
  const file = join(dataDir, 'held');
  writeFileSync(file, '');
  const use = pathToFileURL(resolve('dist/test/server/fixtures/heldStorage.js')).href;
  const config = { path: join(dataDir, 'store'), prefix: 'core/configmaps/', file };
  const server = await startServer({ ...common, plugins: [{ use, config }] });
  const closed = server.close();
  rmSync(file);
  await closed;
  const again = await startServer(common);
  expect(count(await call(again, 'GET', CONFIG_MAPS))).toBe(OBJECTS);
  await again.close();
  rmSync(dataDir, { recursive: true });
});
