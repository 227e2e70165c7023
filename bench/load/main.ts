/**
 * The load generator, a separate process, so that its CPU time does not count as the server's. Runs one task that its
 * parent sends, and reports to it.
 */
import { once } from 'node:events';
import { type Address, type Answer, Connection, requestBytes, timeText, WatchConnection } from './connection.js';
import { EtcdWatch, EtcdWriter } from './etcd.js';
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
  type ResumeTask,
  type Task,
  type UpdateTask,
} from './tasks.js';

/** The longest warm-up in milliseconds; that of a short measurement is as long as the measurement. */
const WARM_UP_MS = 1000;
/**
 * Writers pause while watchers are more events behind than this: the generator shares its processors with the server.
 */
const WINDOW = 64;
/** Longest wait for the last deliveries. */
const DRAIN_MS = 5000;
/** Longest wait for the events of a watch that resumes. */
const RESUME_MS = 60_000;

const report = (message: Report): void => void process.send?.(message);

/** Collects the figures of a `Measured`. */
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

  recordTime(milliseconds: number): void {
    this.#times.push(milliseconds);
  }

  recordAnswer({ status, length }: Answer, began: number): void {
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

const openConnections = (address: Address, count: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => Connection.open(address)));

/**
 * Sends requests on every connection, each after the previous answer, for `ms` or until `next` returns undefined.
 */
async function sendRequests(
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
        meter.recordAnswer(await connection.send(request), began);
      }
    }),
  );
}

/** Measures requests for `ms`, after a warm-up unless their number is limited, and closes the connections. */
async function measureRequests(
  open: readonly Connection[],
  ms: number,
  next: (client: number) => Buffer | undefined,
  warmUp = true,
): Promise<void> {
  const meter = new Meter();
  if (warmUp) await sendRequests(meter, open, Math.min(WARM_UP_MS, ms), next);
  meter.begin();
  await sendRequests(meter, open, ms, next);
  meter.end();
  for (const connection of open) connection.close();
}

async function repeat({ address, path, accept, connections: count, ms }: RepeatTask): Promise<void> {
  const request = requestBytes(address, 'GET', path, '', undefined, accept);
  await measureRequests(await openConnections(address, count), ms, () => request);
}

async function many({ address, tokens, paths, connections: count, ms }: ManyTask): Promise<void> {
  const open = await openConnections(address, count);
  const all = tokens.length * paths.length;
  const request = (pair: number): Buffer =>
    requestBytes({ ...address, token: tokens[pair % tokens.length] }, 'GET', paths[Math.floor(pair / tokens.length)]!);
  let sent = 0;
  await sendRequests(new Meter(), open, 600_000, () => (sent < all ? request(sent++) : undefined));
  await measureRequests(open, ms, () => request(Math.floor(Math.random() * all)), false);
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

async function create({ address, namespace, prefix, bytes, clients, ms, count }: CreateTask): Promise<void> {
  let made = 0;
  const next = (): Buffer | undefined => {
    if (count !== undefined && made >= count) return undefined;
    return requestBytes(address, 'POST', pathOf(namespace), configMap(`${prefix}${made++}`, namespace, bytes));
  };
  await measureRequests(await openConnections(address, clients), ms, next, count === undefined);
}

async function update({ address, namespace, prefix, bytes, clients, ms }: UpdateTask): Promise<void> {
  const open = await openConnections(address, clients);
  const path = pathOf(namespace);
  const bodyOf = (i: number): string => configMap(`${prefix}${i}`, namespace, bytes, timeText());
  await Promise.all(open.map((connection, i) => connection.send(requestBytes(address, 'POST', path, bodyOf(i)))));
  await measureRequests(open, ms, i => requestBytes(address, 'PUT', `${path}/${prefix}${i}`, bodyOf(i)));
}

/** An open watch. */
interface OpenWatch {
  /** True if the server has closed it. */
  readonly isClosed: boolean;
  close(): void;
}

/** The connections of the clients of a fan-out, to a server or to etcd itself. */
interface FanoutClients {
  /**
   * Opens watch `i`. `onEvents` is called with the number of events that have arrived, `onLag` with the lag of the last
   * one.
   */
  openWatch(onLag: (milliseconds: number) => void, onEvents: (events: number) => void, i: number): Promise<OpenWatch>;
  /** Connects writer `i`. Its writes resolve with true if they took place. */
  openWriter(i: number): Promise<{ write(body: string): Promise<boolean>; close(): void }>;
}

/** Opens watches, some at a time. */
async function openWatches(count: number, open: (i: number) => Promise<OpenWatch>): Promise<OpenWatch[]> {
  const watches: OpenWatch[] = [];
  for (let i = 0; i < count; i += 50) {
    const next = Array.from({ length: Math.min(50, count - i) }, (_, at) => open(i + at));
    watches.push(...(await Promise.all(next)));
  }
  return watches;
}

async function fanout(task: FanoutTask | EtcdFanoutTask, clients: FanoutClients): Promise<void> {
  const meter = new Meter();
  let delivered = 0;
  let sampled = 0;
  const onLag = (milliseconds: number): void => {
    if (sampled++ % 16 === 0) meter.recordTime(milliseconds);
  };
  const onEvents = (events: number): void => {
    delivered += events;
    meter.operations += events;
  };
  const watches = await openWatches(task.watchers, i => clients.openWatch(onLag, onEvents, i));
  const writers = await Promise.all(Array.from({ length: task.writers }, (_, i) => clients.openWriter(i)));
  let written = 0;
  const areBehind = (): boolean => written * task.watchers - delivered > WINDOW * task.watchers;
  const writeFor = async (ms: number): Promise<void> => {
    const until = performance.now() + ms;
    await Promise.all(
      writers.map(async (writer, i) => {
        while (performance.now() < until) {
          if (areBehind()) {
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
  await writeFor(Math.min(WARM_UP_MS, task.ms));
  written = delivered = 0;
  meter.begin();
  await writeFor(task.ms);
  meter.bytes = written;
  meter.end(watches.filter(watch => watch.isClosed).length);
  for (const client of [...watches, ...writers]) client.close();
}

/** Clients of a server: a connection for each. */
const serverClients = ({ address, watchPath, writePath, protobuf, tokens = [] }: FanoutTask): FanoutClients => ({
  openWatch: (onLag, onEvents, i) => {
    const isProtobuf = protobuf === 'all' || (protobuf === 'half' && i % 2 === 1);
    const token = tokens[i % tokens.length] ?? address.token;
    return WatchConnection.open({ ...address, token }, { path: watchPath, protobuf: isProtobuf, onLag, onEvents });
  },
  async openWriter(i) {
    const connection = await Connection.open(address);
    const path = `${writePath}/w${i}`;
    return {
      write: async body => (await connection.send(requestBytes(address, 'PUT', path, body))).status < 300,
      close: () => connection.close(),
    };
  },
});

/** Clients of etcd: a connection for each. */
const etcdClients = ({ url, namespace }: EtcdFanoutTask): FanoutClients => ({
  openWatch: (onLag, onEvents) => EtcdWatch.open(url, `/${namespace}`, onLag, onEvents),
  openWriter: i => Promise.resolve(new EtcdWriter(url, `/${namespace}/w${i}`)),
});

async function idle(task: IdleTask): Promise<void> {
  const ignore = (): void => {};
  const options = { path: task.watchPath, protobuf: false, onLag: ignore, onEvents: ignore };
  const open = () => WatchConnection.open(task.address, options);
  const watches = await openWatches(task.watchers, open);
  const meter = new Meter();
  meter.begin();
  await once(process, 'message');
  meter.end(watches.filter(watch => watch.isClosed).length);
  for (const watch of watches) watch.close();
}

/** The times are those of the watches, from the beginning until their last event. */
async function resume({ address, watchPath, watchers, events }: ResumeTask): Promise<void> {
  const meter = new Meter();
  meter.begin();
  const began = performance.now();
  const watches: WatchConnection[] = [];
  const ignore = (): void => {};
  await Promise.all(
    Array.from({ length: watchers }, async () => {
      let seen = 0;
      let done = ignore;
      const all = new Promise<void>(resolve => (done = resolve));
      const onEvents = (more: number): void => {
        meter.operations += more;
        seen += more;
        if (seen < events || seen - more >= events) return;
        meter.recordTime(performance.now() - began);
        done();
      };
      watches.push(await WatchConnection.open(address, { path: watchPath, protobuf: false, onLag: ignore, onEvents }));
      const timer = setTimeout(() => {
        meter.errors++;
        done();
      }, RESUME_MS);
      await all;
      clearTimeout(timer);
    }),
  );
  meter.end(watches.filter(watch => watch.isClosed).length);
  for (const watch of watches) watch.close();
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
      return fanout(task, serverClients(task));
    case 'etcdFanout':
      return fanout(task, etcdClients(task));
    case 'idle':
      return idle(task);
    case 'resume':
      return resume(task);
  }
}

process.once('message', (task: Task) => {
  run(task)
    .catch((error: unknown) =>
      report({ is: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
    .finally(() => process.disconnect());
});
