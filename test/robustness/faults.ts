import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Deployment, Node } from './deployment.js';
import type { Random } from './random.js';

/** Injects a fault, and ends it before it resolves. */
type Fault = (deployment: Deployment, node: Node, random: Random) => Promise<void>;

const MINUTE = 60_000;
/** Offsets that the clock jumps to, in milliseconds. */
const CLOCKS = [0, -5000, 5000, MINUTE, -MINUTE, 10 * MINUTE, -10 * MINUTE, 60 * MINUTE];

async function crash(deployment: Deployment, node: Node, random: Random): Promise<void> {
  await node.server.end('SIGKILL');
  node.proxy.target = 0;
  await sleep(random.between(0, 1200));
  await deployment.startNode(node);
}

const cut: Fault = async (_, { proxy }, random) => {
  const direction = random.pick(['all', 'request', 'response'] as const);
  if (direction === 'all') return proxy.cutAll();
  proxy.cut(direction, random.between(1, 10));
  await sleep(random.between(300, 1500));
  proxy.cut(direction, 0);
};

/** A failed sync: the server must not write again, and may end. Only a restart shows the content of the store. */
const fsync: Fault = async (deployment, node, random) => {
  const { failures } = node.server;
  node.server.expectEnd();
  node.server.steer({ fail: random.pick(['lost', 'kept'] as const) });
  for (let waited = 0; waited < 3000 && node.server.failures === failures; waited += 50) await sleep(50);
  await sleep(random.between(200, 1500));
  await crash(deployment, node, random);
};

/** All faults, with the backends that they apply to. */
const KINDS: { readonly [name: string]: { readonly fault: Fault; readonly on: readonly Backend[] } } = {
  /** Kills a server with SIGKILL and restarts it on the same data. */
  kill: { fault: crash, on: ['rocksdb', 'etcd'] },
  /** Stops a server with SIGSTOP and lets it continue. */
  stop: {
    async fault(_, { server }, random) {
      server.pause();
      await sleep(random.between(200, 4000));
      server.resume();
    },
    on: ['rocksdb', 'memory', 'etcd'],
  },
  /** Cuts connections in the middle of requests or responses, or all of them. */
  cut: { fault: cut, on: ['rocksdb', 'memory', 'etcd'] },
  /** Refuses connections. */
  refuse: {
    async fault(_, { proxy }, random) {
      proxy.refuse(true);
      proxy.cutAll();
      await sleep(random.between(200, 1500));
      proxy.refuse(false);
    },
    on: ['rocksdb', 'memory', 'etcd'],
  },
  /** Keeps connections open, but forwards no bytes. */
  stall: {
    async fault(_, { proxy }, random) {
      proxy.stall(true);
      await sleep(random.between(200, 3000));
      proxy.stall(false);
    },
    on: ['rocksdb', 'memory', 'etcd'],
  },
  /** Delays the writes of the store. */
  'slow-disk': {
    async fault(_, { server }, random) {
      server.steer({ delay: random.between(10, 300) });
      await sleep(random.between(500, 3000));
      server.steer({ delay: 0 });
    },
    on: ['rocksdb', 'memory'],
  },
  fsync: { fault: fsync, on: ['rocksdb'] },
  /** Makes the clock jump. It stays shifted until the next jump. */
  clock: {
    async fault(_, { server }, random) {
      server.steer({ clock: random.pick(CLOCKS) });
    },
    on: ['rocksdb', 'memory', 'etcd'],
  },
  'kill-etcd': {
    async fault({ etcd }, _, random) {
      await etcd!.kill();
      await sleep(random.between(0, 1500));
      await etcd!.start();
    },
    on: ['etcd'],
  },
  'stop-etcd': {
    async fault({ etcd }, _, random) {
      etcd!.pause();
      await sleep(random.between(200, 3000));
      etcd!.resume();
    },
    on: ['etcd'],
  },
};

/** The names of all faults. */
export const FAULTS = Object.keys(KINDS);

/** The faults that apply to a backend. */
export const faultsOf = (backend: Backend): string[] => FAULTS.filter(name => KINDS[name]!.on.includes(backend));

/**
 * Injects one fault after the other until `signal` aborts, and counts them by name. Resolves when the last one is over.
 * Rejects if a server does not start again.
 */
export async function injectFaults(
  deployment: Deployment,
  kinds: readonly string[],
  random: Random,
  counts: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(random.between(1000, 4500), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    if (kinds.length === 0) continue;
    const kind = random.pick(kinds);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    await KINDS[kind]!.fault(deployment, random.pick(deployment.nodes), random);
  }
}
