import { type Case, costOf, cpuPerOperation, rateOf, type Row, timesOf } from '../lib/case.js';
import { type Loaded, load, type Pids } from '../lib/load.js';
import type { Reference } from '../lib/reference.js';
import { formatNumber } from '../lib/report.js';
import { type Address, PROTOBUF, sendOnce } from '../load/connection.js';
import { configMap, type Task } from '../load/tasks.js';

const BYTES = 1500;
const LISTED = 5000;
const LISTED_BYTES = 2000;
const LIST_CLIENTS = 4;
const WATCHERS = 1000;

/** A comparison: a task for a server, in a namespace that exists. */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** The rate to reach, as a multiple of that of the reference. */
  readonly aim?: number;
  /** Prepares the server. */
  readonly prepare?: (address: Address, namespace: string, pids: Pids) => Promise<unknown>;
  readonly task: (address: Address, namespace: string, ms: number) => Task;
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

/** Writes by some clients. */
export const write = (is: 'create' | 'update', clients: number, aim?: number): Comparison => ({
  name: `reference-${is}-${clients}`,
  title: `${is}, ${clients} clients`,
  unit: `${is}s/s`,
  aim,
  task: (address, namespace, ms) => ({
    is,
    address,
    namespace,
    prefix: `${is[0]}${clients}-`,
    bytes: BYTES,
    clients,
    ms,
  }),
});

/** Events to watches of one object, written by one client as fast as the watches receive them. */
export const watch = (title: string, protobuf: 'all' | undefined, aim?: number, watchers = WATCHERS): Comparison => ({
  name: `reference-watch-${title.toLowerCase()}`,
  title: `watch in ${title}, 1 writer, ${formatNumber(watchers)} watchers`,
  unit: 'deliveries/s',
  aim,
  prepare: (address, namespace) => sendOnce(address, 'POST', pathOf(namespace), configMap('w0', namespace, BYTES)),
  task: (address, namespace, ms) => ({
    is: 'fanout',
    address,
    watchPath: `${pathOf(namespace)}?watch=1&resourceVersion=0`,
    writePath: pathOf(namespace),
    namespace,
    bytes: BYTES,
    writers: 1,
    watchers,
    ms,
    protobuf,
  }),
});

/** Gets of one object by some clients. */
export const get = (title: string, accept: string | undefined): Comparison => ({
  name: `reference-get-${title.toLowerCase()}`,
  title: `get in ${title}`,
  unit: 'requests/s',
  prepare: (address, namespace) => sendOnce(address, 'POST', pathOf(namespace), configMap('read', namespace, BYTES)),
  task: (address, namespace, ms) => ({
    is: 'repeat',
    address,
    path: `${pathOf(namespace)}/read`,
    accept,
    connections: 16,
    ms,
  }),
});

const list = (title: string, accept: string, aim?: number): Comparison => ({
  name: `reference-list-${title.toLowerCase()}`,
  title: `list of ${LISTED} as ${title}, ${LIST_CLIENTS} clients`,
  unit: 'lists/s',
  aim,
  prepare: async (address, namespace, pids) => {
    const task = { is: 'create', address, namespace, prefix: 'o', bytes: LISTED_BYTES, clients: 16 } as const;
    await load({ ...task, ms: 300_000, count: LISTED }, pids);
  },
  task: (address, namespace, ms) => ({
    is: 'repeat',
    address,
    path: pathOf(namespace),
    accept,
    connections: LIST_CLIENTS,
    ms,
  }),
});

const meta = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

const COMPARISONS: readonly Comparison[] = [
  write('create', 1, 3),
  write('create', 16, 4),
  write('create', 64, 5),
  write('update', 16, 5),
  watch('JSON', undefined, 3),
  watch('protobuf', 'all'),
  get('JSON', undefined),
  get('protobuf', PROTOBUF),
  list('JSON', 'application/json', 3),
  list('protobuf', PROTOBUF, 3),
  list('YAML', 'application/yaml'),
  list('Table', meta('Table')),
  list('metadata', meta('PartialObjectMetadataList')),
];

/** Runs a comparison on one server, in its own namespace. */
export async function measure(
  { name, prepare, task }: Comparison,
  address: Address,
  pids: Pids,
  ms: number,
): Promise<Loaded> {
  const namespace = `${name}-${Date.now()}`;
  await sendOnce(address, 'POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: namespace } }));
  await prepare?.(address, namespace, pids);
  return await load(task(address, namespace, ms), pids);
}

/**
 * Cases that compare with a running reference: the same requests to both, each measured by rate and by CPU time of all
 * processes.
 */
export const referenceCases = (reference: Reference): readonly Case[] =>
  COMPARISONS.map(of => ({
    name: of.name,
    async run(bench): Promise<Row[]> {
      const server = await bench.server();
      const ours = await measure(of, { ...server, token: server.adminToken }, server.pid, bench.ms);
      const theirs = await measure(of, reference, reference.pids, bench.ms);
      const cpu = cpuPerOperation(ours) / cpuPerOperation(theirs);
      const note = `CPU ${cpu.toFixed(2)} of the reference's; ${timesOf(ours)} (reference ${timesOf(theirs)})`;
      const costs = { ...costOf(ours), baselineUs: cpuPerOperation(theirs), note };
      return [{ case: of.title, unit: of.unit, value: rateOf(ours), baseline: rateOf(theirs), aim: of.aim, ...costs }];
    },
  }));
