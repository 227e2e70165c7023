/** The load generator: a process of its own, so that its work is not the server's. Takes one task from its parent and reports. */
import { once } from 'node:events';
import { type Answer, Connection, requestBytes, timeText, Watching } from './connection.js';
import { EtcdWatching, EtcdWriter } from './etcd.js';
import {
  type CreateTask,
  configMap,
  type EtcdFanoutTask,
  type FanoutTask,
  type IdleTask,
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

const connections = (task: { address: RepeatTask['address'] }, count: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => Connection.open(task.address)));

async function repeat(task: RepeatTask): Promise<void> {
  const open = await connections(task, task.connections);
  const request = requestBytes(task.address, 'GET', task.path);
  const meter = new Meter();
  const phase = async (ms: number): Promise<void> => {
    const until = performance.now() + ms;
    await Promise.all(
      open.map(async connection => {
        for (let began = performance.now(); began < until; began = performance.now())
          meter.answer(await connection.send(request), began);
      }),
    );
  };
  await phase(WARM_UP_MS);
  meter.begin();
  await phase(task.ms);
  meter.end();
  for (const connection of open) connection.close();
}

async function create(task: CreateTask): Promise<void> {
  const open = await connections(task, task.clients);
  const path = `/api/v1/namespaces/${task.namespace}/configmaps`;
  const meter = new Meter();
  let made = 0;
  const phase = async (ms: number, most: number): Promise<void> => {
    const until = performance.now() + ms;
    await Promise.all(
      open.map(async connection => {
        for (let began = performance.now(); began < until && made < most; began = performance.now()) {
          const body = configMap(`${task.prefix}${made++}`, task.namespace, task.bytes);
          meter.answer(await connection.send(requestBytes(task.address, 'POST', path, body)), began);
        }
      }),
    );
  };
  if (task.count === undefined) await phase(WARM_UP_MS, Number.POSITIVE_INFINITY);
  meter.begin();
  await phase(task.ms, task.count ?? Number.POSITIVE_INFINITY);
  meter.end();
  for (const connection of open) connection.close();
}

async function update(task: UpdateTask): Promise<void> {
  const meter = new Meter();
  const path = `/api/v1/namespaces/${task.namespace}/configmaps`;
  const open = await connections(task, task.clients);
  const bodyOf = (i: number): string => configMap(`${task.prefix}${i}`, task.namespace, task.bytes, timeText());
  await Promise.all(open.map((connection, i) => connection.send(requestBytes(task.address, 'POST', path, bodyOf(i)))));
  const phase = async (ms: number): Promise<void> => {
    const until = performance.now() + ms;
    await Promise.all(
      open.map(async (connection, i) => {
        for (let began = performance.now(); began < until; began = performance.now())
          meter.answer(await connection.send(requestBytes(task.address, 'PUT', `${path}/${task.prefix}${i}`, bodyOf(i))), began);
      }),
    );
  };
  await phase(WARM_UP_MS);
  meter.begin();
  await phase(task.ms);
  meter.end();
  for (const connection of open) connection.close();
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
