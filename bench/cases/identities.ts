import { join } from 'node:path';
import { type Capstan, type SendAsAdmin, sendAsAdmin, startCapstan, withAdmin } from '../lib/capstan.js';
import { type Case, costOf, type Row, rateOf, timesOf } from '../lib/case.js';
import { load } from '../lib/load.js';

const KINDS = 50;
const NAMESPACES = 20;
const IDENTITIES = 200;
/** The number of connections over which the kinds and their objects are created. */
const WRITERS = 8;

const GROUP = 'bench.example.com';
const BASE = `/apis/${GROUP}/v1`;
/** The members of every object. */
const DATA = { data: { text: 'x'.repeat(200) } };

/** Defines a kind and creates an object `one` of it in each namespace. Returns the paths of the objects. */
async function createKind(send: SendAsAdmin, kind: string, namespaces: readonly string[]): Promise<string[]> {
  const plural = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  const isServed = (): Promise<boolean> =>
    send('GET', `${BASE}/${plural}`).then(
      () => true,
      () => false,
    );
  while (!(await isServed())) await new Promise(resolve => setTimeout(resolve, 10));
  const paths = namespaces.map(namespace => `${BASE}/namespaces/${namespace}/${plural}`);
  const object = { apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'one' }, ...DATA };
  for (const path of paths) await send('POST', path, object);
  return paths.map(path => `${path}/one`);
}

/** Creates all kinds. Returns the paths of their objects. */
async function createKinds(server: Capstan, namespaces: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  let next = 0;
  const write = async (send: SendAsAdmin): Promise<void> => {
    while (next < KINDS) paths.push(...(await createKind(send, `Benchkind${next++}`, namespaces)));
  };
  await Promise.all(Array.from({ length: WRITERS }, () => withAdmin(server, write)));
  return paths;
}

/** Allows the group of the identities to read everything, by a role binding. */
async function allowReads(server: Capstan): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  await sendAsAdmin(server, 'POST', `/apis/${group}/v1/clusterroles`, {
    metadata: { name: 'bench-many' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
  });
  await sendAsAdmin(server, 'POST', `/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: 'bench-many' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'bench-many' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'bench-many' }],
  });
}

/**
 * Gets as the clients of a large cluster send them: many identities, each of which reads many kinds in many namespaces.
 * The difference to gets of one object by one client is the cost of finding identity and permission. It has its own
 * server.
 */
const identities: Case = {
  name: 'identities',
  async run(bench): Promise<Row[]> {
    const tokens = Array.from({ length: IDENTITIES }, (_, i) => `bench-many-token-${i}`);
    const server = await startCapstan({ dataDir: join(bench.dir, 'identities'), tls: bench.tls, tokens });
    await allowReads(server);
    const namespaces = Array.from({ length: NAMESPACES }, (_, i) => `space-${i}`);
    await Promise.all(
      namespaces.map(name => sendAsAdmin(server, 'POST', '/api/v1/namespaces', { metadata: { name } })),
    );
    const paths = await createKinds(server, namespaces);
    const task = { is: 'many', address: server, tokens, paths, connections: 32, ms: bench.ms } as const;
    const measured = await load(task, server.pid);
    await server.close();
    const what = `get: ${KINDS} kinds, ${NAMESPACES} namespaces, ${IDENTITIES} identities`;
    const note = timesOf(measured);
    return [{ case: what, unit: 'requests/s', value: rateOf(measured), ...costOf(measured), note }];
  },
};

/** Reads by many identities. */
export const manyReaders: readonly Case[] = [identities];
