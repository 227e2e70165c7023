import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventuallyPasses } from '../support/eventually.js';
import { Api, type Event, type Loose, listOf } from '../api/support.js';
import { hasUws } from '../listener/names.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

const THREADS = 3;
const directory = mkdtempSync(join(tmpdir(), 'capstan-listening-'));
const auditLogPath = join(directory, 'audit.log');
let api: Api;
/** Clients, each with one connection. Connections are passed on in turn, so that different threads serve them. */
const clients: Client[] = [];

/** A client with one persistent connection. */
class Client {
  readonly #agent = new Agent({ connections: 1, pipelining: 1, connect: { rejectUnauthorized: false } });

  async call(method: string, path: string, body?: object, headers: { [name: string]: string } = {}) {
    const answer = await request(api.server.url + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${api.server.token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as Loose,
    };
  }

  async get(path: string): Promise<Loose> {
    const { status, body, text } = await this.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    return body;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

const configMap = (name: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
});

/** The text without the ages in Tables, which grow between two answers. */
const withoutAges = (text: string): string => text.replaceAll(/"(?:\d+[dhms])+"/g, '"age"');

/** Only the listener uws serves in several threads. */
const testThreads = test.skipIf(!hasUws);

beforeAll(async () => {
  if (!hasUws) return;
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'ann-token,ann,1\n', { mode: 0o600 });
  const auditPolicyFile = join(directory, 'policy.yaml');
  const rules = '[{level: Metadata, resources: [{resources: [secrets]}]}]';
  writeFileSync(
    auditPolicyFile,
    `apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: ${rules}\n`,
  );
  api = await Api.start({ listeningThreads: THREADS, tokenAuthFile, auditPolicyFile, auditLogPath });
  for (let i = 0; i < THREADS; i++) {
    const client = new Client();
    clients.push(client);
    await client.get('/version');
  }
});
afterAll(async () => {
  for (const client of clients) await client.close();
  if (hasUws) await api.close();
  rmSync(directory, { recursive: true });
});

testThreads('a client finds its write in every thread as soon as the write is answered', async () => {
  const path = `${await api.namespace('own-writes')}/configmaps`;
  await clients[0]!.call('POST', path, configMap('one', '0'));
  for (let i = 1; i <= 300; i++) {
    const [writer, reader, lister] = [0, 1, 2].map(offset => clients[(i + offset) % THREADS]!);
    const written = await writer!.call('PUT', `${path}/one`, configMap('one', String(i)));
    expect(written.status).toBe(200);
    const [read, list] = await Promise.all([reader!.get(`${path}/one`), lister!.get(path)]);
    expect(read['data']!['value']).toBe(String(i));
    expect(listOf(list['items']).find(item => `${item['metadata']!['name']}` === 'one')).toEqual(
      expect.objectContaining({ data: { value: String(i) } }),
    );
  }
});

testThreads('no other thread answers with an older state while several threads write', async () => {
  const path = `${await api.namespace('all-write')}/configmaps`;
  await Promise.all(
    clients.map(async (client, own) => {
      await client.call('POST', path, configMap(`of-${own}`, '0'));
      for (let i = 1; i <= 100; i++) {
        await client.call('PUT', `${path}/of-${own}`, configMap(`of-${own}`, String(i)));
        const others = await Promise.all(clients.map(other => other.get(`${path}/of-${own}`)));
        for (const seen of others) expect(Number(seen['data']!['value'])).toBe(i);
      }
    }),
  );
});

testThreads('a watch in every thread gets each change once, in the order of revisions', async () => {
  const path = `${await api.namespace('watched')}/configmaps`;
  const from = (await api.get(path)).body['metadata']!['resourceVersion'];
  const watches = await Promise.all(
    Array.from({ length: THREADS }, () => api.watch(`${path}?watch=1&resourceVersion=${from}`)),
  );
  const writes = 40;
  await Promise.all(
    clients.map(async (client, own) => {
      for (let i = 0; i < writes; i++) await client.call('POST', path, configMap(`${own}-${i}`, 'x'));
    }),
  );
  const seen = await Promise.all(
    watches.map(async watch => {
      const events: Event[] = [];
      // And the object that the server creates in each namespace, which may have existed before.
      const isOwn = ({ object }: Event) => `${object['metadata']!['name']}` !== 'kube-root-ca.crt';
      while (events.filter(isOwn).length < writes * THREADS) events.push(await watch.next());
      watch.close();
      return events.filter(isOwn).map(({ object }) => Number(object['metadata']!['resourceVersion']));
    }),
  );
  for (const revisions of seen) {
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(revisions).toEqual(seen[0]);
  }
});

testThreads('a permission that is taken away holds in no thread for the next request', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await api.made(`${roles}/clusterroles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  });
  const asAnn = { authorization: 'Bearer ann-token' };
  const statuses = () =>
    Promise.all(
      clients.map(async client => (await client.call('GET', '/api/v1/configmaps?limit=1', undefined, asAnn)).status),
    );
  for (let i = 0; i < 20; i++) {
    expect(await statuses()).toEqual(clients.map(() => 403));
    await clients[i % THREADS]!.call('POST', `${roles}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    });
    expect(await statuses()).toEqual(clients.map(() => 200));
    await clients[(i + 1) % THREADS]!.call('DELETE', `${roles}/clusterrolebindings/reader`);
  }
});

testThreads(
  'a definition is served in every thread as soon as its creation was answered and it is established',
  async () => {
    const plural = 'teas';
    const created = await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.tea.example` },
      spec: {
        group: 'tea.example',
        scope: 'Cluster',
        names: { plural, kind: 'Tea', singular: 'tea', listKind: 'TeaList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    expect(created.status).toBe(201);
    await api.until(async () => (await api.get(`/apis/tea.example/v1/${plural}`)).status === 200);
    for (const client of clients) expect((await client.call('GET', `/apis/tea.example/v1/${plural}`)).status).toBe(200);
  },
);

testThreads('every thread answers in every form, and pages that another thread has begun', async () => {
  const path = `${await api.namespace('forms')}/configmaps`;
  for (let i = 0; i < 20; i++) await api.made(path, configMap(`c${i}`, 'x'.repeat(1000)));
  const forms = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  ];
  // Controllers may write meanwhile.
  for (const accept of forms)
    await eventuallyPasses(async () => {
      const answers = await Promise.all(clients.map(client => client.call('GET', path, undefined, { accept })));
      const texts = answers.map(({ text }) => withoutAges(text));
      for (const [i, { status }] of answers.entries()) expect([status, texts[i]]).toEqual([200, texts[0]]);
    });
  const names: string[] = [];
  let next = '';
  for (let page = 0; page === 0 || next !== ''; page++) {
    const list = await clients[page % THREADS]!.get(`${path}?limit=4&continue=${encodeURIComponent(next)}`);
    for (const item of listOf(list['items'])) names.push(`${item['metadata']!['name']}`);
    next = String(list['metadata']!['continue'] ?? '');
  }
  expect(names.filter(name => name.startsWith('c')).length).toBe(20);
});

testThreads('documents, health, metrics and snapshots are the same in every thread, and so are refusals', async () => {
  for (const path of ['/version', '/apis', '/openapi/v3', '/readyz?verbose=1', '/api/v1']) {
    const answers = await Promise.all(clients.map(client => client.call('GET', path)));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]!.text]);
  }
  for (const client of clients) {
    expect((await client.call('POST', '/version', {})).status).toBe(405);
    expect((await client.call('GET', '/nothing/here')).status).toBe(404);
    const snapshot = await client.call('GET', '/store/snapshot');
    expect(snapshot.status).toBe(200);
    expect(snapshot.text.length).toBeGreaterThan(10_000);
  }
});

testThreads('metrics count the requests of all threads', async () => {
  const path = `${await api.namespace('counted')}/limitranges`;
  const count = async (): Promise<number> => {
    const line = /apiserver_request_total\{verb="LIST"[^}]*resource="limitranges"[^}]*code="200"\} (\d+)/;
    return Number(line.exec((await clients[0]!.call('GET', '/metrics')).text)?.[1] ?? 0);
  };
  const before = await count();
  for (let i = 0; i < 4; i++) for (const client of clients) await client.get(path);
  expect((await count()) - before).toBe(4 * THREADS);
});

testThreads('the audit log has the requests of all threads, each on a line of its own', async () => {
  const path = `${await api.namespace('audited')}/secrets`;
  const times = 50;
  await Promise.all(
    clients.map(async client => {
      for (let i = 0; i < times; i++) await client.get(path);
    }),
  );
  const events = () =>
    readFileSync(auditLogPath, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as { requestURI: string })
      .filter(({ requestURI }) => requestURI === path);
  await api.until(async () => events().length === times * THREADS);
});

testThreads('a server that closes ends the watches of all threads with a last bookmark', async () => {
  const other = await Api.start({ listeningThreads: 2 });
  const watches = await Promise.all(
    Array.from({ length: 4 }, () => other.watch('/api/v1/namespaces?watch=1&allowWatchBookmarks=true')),
  );
  // The initial objects end with a bookmark.
  for (const watch of watches) while ((await watch.next()).type !== 'BOOKMARK');
  const closed = other.server.close();
  for (const watch of watches) {
    expect((await watch.next()).type).toBe('BOOKMARK');
    await expect(watch.next()).rejects.toThrow('the watch ended');
  }
  await closed;
  await other.close();
});

test('several listening threads are refused for a listener that serves in one thread', async () => {
  const starting = startServer({ storage: 'memory', port: 0, listener: 'node', listeningThreads: 2 });
  await expect(starting).rejects.toThrow(/--listening-threads: the listener node serves in one thread/);
});

testThreads('what one thread refuses, every thread can explain', async () => {
  const { headers } = await clients[0]!.call('GET', '/api/v1/pods', undefined, { authorization: 'Bearer ann-token' });
  const missing = await clients[0]!.call('GET', '/api/v1/namespaces/none');
  for (const [id, code] of [
    [headers['audit-id'], 403],
    [missing.headers['audit-id'], 404],
  ]) {
    const path = `/apis/why.capstan.dev/v1/decisions/${String(id)}`;
    const read = (client: Client) => client.call('GET', path).then(({ body }) => body);
    for (const client of clients)
      expect(
        await eventually(
          () => read(client),
          body => 'outcome' in body,
        ),
      ).toMatchObject({ outcome: { code } });
  }
});
