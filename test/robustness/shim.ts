/**
 * Loaded into every thread of a tested server before anything else (`node --import`): it can move the clock, make the
 * disk slow, and make a sync fail. The harness steers it through the process's channel; the main thread tells the
 * others.
 */
import { createRequire } from 'node:module';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** What the harness tells a server's shim. */
export interface Orders {
  /** Added to every reading of the clock, in ms. */
  readonly clock?: number;
  /** Time each write of the store waits, in ms; up to twice as long. */
  readonly delay?: number;
  /** The next synced write fails: `lost` without having written, `kept` after it was written all the same. */
  readonly fail?: 'lost' | 'kept';
}

type Done = (error: Error | null) => void;
type BatchWrite = (batch: unknown, options: { readonly sync: boolean }, done: Done) => void;

let clock = Number(process.env['ROBUSTNESS_CLOCK'] ?? 0);
let delay = 0;
let fail: Orders['fail'];
const channel = new BroadcastChannel('robustness');
channel.unref();

function take(orders: Orders): void {
  clock = orders.clock ?? clock;
  delay = orders.delay ?? delay;
  fail = orders.fail ?? fail;
}

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length > 0 ? args : [target.now() + clock], made) as object,
  apply: target => new target(target.now() + clock).toString(),
  get: (target, name) => (name === 'now' ? () => target.now() + clock : Reflect.get(target, name)),
});

const wait = (): Promise<void> =>
  delay === 0 ? Promise.resolve() : new Promise(resolve => setTimeout(resolve, delay * (1 + Math.random())));

/** The disk of RocksDB: the writes of its native library. */
function breakRocks(): void {
  const binding = createRequire(import.meta.url)('rocksdb/binding.js') as { batch_write: BatchWrite };
  const write = binding.batch_write;
  binding.batch_write = (batch, options, done) => {
    const failing = options.sync ? fail : undefined;
    if (failing === undefined && delay === 0) return write(batch, options, done);
    if (failing) {
      fail = undefined;
      channel.postMessage({ failed: failing });
    }
    const error = new Error('IO error: While fsync: Input/output error');
    void wait().then(() => {
      if (failing === 'lost') done(error);
      else write(batch, options, written => done(failing ? error : written));
    });
  };
}

/** The disk of the store in memory. */
async function breakMemory(): Promise<void> {
  const { MemoryRecords } = await import('../../plugins/storage/memory.js');
  const { batch } = MemoryRecords.prototype;
  MemoryRecords.prototype.batch = function slow() {
    const made = batch.call(this);
    return { ...made, write: async sync => wait().then(() => made.write(sync)) };
  };
}

channel.onmessage = event => {
  const message = (event as { data: Orders | { failed: string } }).data;
  if (!('failed' in message)) take(message);
  else if (isMainThread) process.send?.(message);
};

if (isMainThread) {
  process.on('message', (orders: Orders) => {
    take(orders);
    channel.postMessage(orders);
  });
  // The harness is gone: nobody would end the server.
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
}
breakRocks();
await breakMemory();
