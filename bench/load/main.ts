/**
 * The load generator: a process of its own, so that its work is not the server's. Takes one task from its parent and
 * reports.
 */
import { once } from 'node:events';
import { type Address, type Answer, Connection, requestBytes, timeText, Watching } from './connection.js';
import { EtcdWatching, EtcdWriter } from './etcd.js';
import {
  type CreateTask,
  configMap,
  type EtcdFanoutTask,
  type FanoutTask,
  type IdleTask,
  type ManyTask,
  type Measured,
  type RepeatTask,
  type Report,
  type Task,
  type UpdateTask,
} from './tasks.js';

const WARM_UP_MS = 1000;
/** Events a watcher may be behind before writers pause: the generator shares its processors with the server. */
const WINDOW = 64;
/** Longest wait for the last deliveries. */
const DRAIN_MS = 5000;

const report = (message: Report): void => void process.send?.(message);

/** Collects what `Measured` tells. */
class Meter {
  operations = 0;
  bytes = 0;
  errors = 0;
  #times: number[] = [];
  #started = 0;

  begin(): void {
    this.operations = this.bytes = this.errors = 0;
    this.#times = [];
    this.#started = performance.now();
    report({ is: 'begin' });
  }

  time(milliseconds: number): void {
    this.#times.push(milliseconds);
  }

  answer({ status, length }: Answer, began: number): void {
    this.operations++;
    this.bytes += length;
    if (status >= 300) this.errors++;
    this.#times.push(performance.now() - began);
  }

  end(dropped = 0): void {
    const sorted = this.#times.sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const { operations, bytes, errors } = this;
    const seconds = (performance.now() - this.#started) / 1000;
    const measured: Measured = { seconds, operations, bytes, errors, p50: at(0.5), p99: at(0.99), dropped };
    report({ is: 'end', measured });
  }
}

const connections = (address: Address, count: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => Connection.open(address)));

/**
 * Every connection sends its next request when it has the answer to the last, until the time is up or there is none.
 */
async function busy(
  meter: Meter,
  open: readonly Connection[],
  ms: number,
  next: (client: number) => Buffer | undefined,
): Promise<void> {
  const until = performance.now() + ms;
  await Promise.all(
    open.map(async (connection, client) => {
      for (let began = performance.now(); began < until; began = performance.now()) {
        const request = next(client);
        if (!request) return;
        meter.answer(await connection.send(request), began);
      }
    }),
  );
}

/** Measures requests for `ms`, after a warm-up where there is no bound to their number. */
async function measured(
  open: readonly Connection[],
  ms: number,
  next: (client: number) => Buffer | undefined,
  warmUp = true,
): Promise<void> {
  const meter = new Meter();
  if (warmUp) await busy(meter, open, WARM_UP_MS, next);
  meter.begin();
  await busy(meter, open, ms, next);
  meter.end();
  for (const connection of open) connection.close();
}

async function repeat({ address, path, connections: count, ms }: RepeatTask): Promise<void> {
  const request = requestBytes(address, 'GET', path);
  await measured(await connections(address, count), ms, () => request);
}

async function many({ address, tokens, paths, connections: count, ms }: ManyTask): Promise<void> {
  const open = await connections(address, count);
  const all = tokens.length * paths.length;
  const request = (pair: number): Buffer =>
    requestBytes({ ...address, token: tokens[pair % tokens.length] }, 'GET', paths[Math.floor(pair / tokens.length)]!);
  let asked = 0;
  await busy(new Meter(), open, 600_000, () => (asked < all ? request(asked++) : undefined));
  await measured(open, ms, () => request(Math.floor(Math.random() * all)), false);
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

async function create({ address, namespace, prefix, bytes, clients, ms, count }: CreateTask): Promise<void> {
  let made = 0;
  const next = (): Buffer | undefined => {
    if (count !== undefined && made >= count) return undefined;
    return requestBytes(address, 'POST', pathOf(namespace), configMap(`${prefix}${made++}`, namespace, bytes));
  };
  await measured(await connections(address, clients), ms, next, count === undefined);
}

async function update({ address, namespace, prefix, bytes, clients, ms }: UpdateTask): Promise<void> {
  const open = await connections(address, clients);
  const path = pathOf(namespace);
  const bodyOf = (i: number): string => configMap(`${prefix}${i}`, namespace, bytes, timeText());
  await Promise.all(open.map((connection, i) => connection.send(requestBytes(address, 'POST', path, bodyOf(i)))));
  await measured(open, ms, i => requestBytes(address, 'PUT', `${path}/${prefix}${i}`, bodyOf(i)));
}

/** A watch under way. */
interface Watcher {
  readonly closed: boolean;
  close(): void;
}

/** Who takes part in a fan-out, at a server or at etcd itself. */
interface Parties {
  watch(lag: (milliseconds: number) => void, more: (events: number) => void): Promise<Watcher>;
  /** The client of writer `i`; a write resolves with whether it took place. */
  writer(i: number): Promise<{ write(body: string): Promise<boolean>; close(): void }>;
}

/** Opens watches, some at a time. */
async function watchers(count: number, open: () => Promise<Watcher>): Promise<Watcher[]> {
  const watching: Watcher[] = [];
  for (let i = 0; i < count; i += 50) {
    watching.push(...(await Promise.all(Array.from({ length: Math.min(50, count - i) }, open))));
  }
  return watching;
}

async function fanout(task: FanoutTask | EtcdFanoutTask, parties: Parties): Promise<void> {
  const meter = new Meter();
  let delivered = 0;
  let sampled = 0;
  const lag = (milliseconds: number): void => {
    if (sampled++ % 16 === 0) meter.time(milliseconds);
  };
  const more = (events: number): void => {
    delivered += events;
    meter.operations += events;
  };
  const watching = await watchers(task.watchers, () => parties.watch(lag, more));
  const writers = await Promise.all(Array.from({ length: task.writers }, (_, i) => parties.writer(i)));
  let written = 0;
  const behind = (): boolean => written * task.watchers - delivered > WINDOW * task.watchers;
  const phase = async (ms: number): Promise<void> => {
    const until = performance.now() + ms;
    await Promise.all(
      writers.map(async (writer, i) => {
        while (performance.now() < until) {
          if (behind()) {
            await new Promise(resolve => setImmediate(resolve));
            continue;
          }
          if (!(await writer.write(configMap(`w${i}`, task.namespace, task.bytes, timeText())))) meter.errors++;
          written++;
        }
      }),
    );
    for (const end = performance.now() + DRAIN_MS; delivered < written * task.watchers && performance.now() < end; ) {
      await new Promise(resolve => setImmediate(resolve));
    }
  };
  await phase(WARM_UP_MS);
  written = delivered = 0;
  meter.begin();
  await phase(task.ms);
  meter.bytes = written;
  meter.end(watching.filter(watch => watch.closed).length);
  for (const client of [...watching, ...writers]) client.close();
}

/** Clients of a server: a connection for each. */
const atServer = ({ address, watchPath, writePath }: FanoutTask): Parties => ({
  watch: (lag, more) => Watching.open(address, watchPath, lag, more),
  async writer(i) {
    const connection = await Connection.open(address);
    const path = `${writePath}/w${i}`;
    return {
      write: async body => (await connection.send(requestBytes(address, 'PUT', path, body))).status < 300,
      close: () => connection.close(),
    };
  },
});

/** Clients of etcd: a connection for each. */
const atEtcd = ({ url, namespace }: EtcdFanoutTask): Parties => ({
  watch: (lag, more) => EtcdWatching.open(url, `/${namespace}`, lag, more),
  writer: i => Promise.resolve(new EtcdWriter(url, `/${namespace}/w${i}`)),
});

async function idle(task: IdleTask): Promise<void> {
  const ignore = (): void => {};
  const watching = await watchers(task.watchers, () => Watching.open(task.address, task.watchPath, ignore, ignore));
  const meter = new Meter();
  meter.begin();
  await once(process, 'message');
  meter.end(watching.filter(watch => watch.closed).length);
  for (const watch of watching) watch.close();
}

function run(task: Task): Promise<void> {
  switch (task.is) {
    case 'repeat':
      return repeat(task);
    case 'many':
      return many(task);
    case 'create':
      return create(task);
    case 'update':
      return update(task);
    case 'fanout':
      return fanout(task, atServer(task));
    case 'etcdFanout':
      return fanout(task, atEtcd(task));
    case 'idle':
      return idle(task);
  }
}

process.once('message', (task: Task) => {
  run(task)
    .catch((error: unknown) =>
      report({ is: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
    .finally(() => process.disconnect());
});
