/**
 * Loaded into every thread of a tested server before all other modules (`node --import`). It can shift the clock, delay
 * writes of the store, and make a sync fail. The test sends settings to the main thread, which sends them to the
 * others.
 */
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import type { Database } from '../../plugins/storage/rocksdb/binding.js';

/** Changes of faults; undefined members are not changed. */
export interface FaultSettings {
  /** Milliseconds that are added to the current time. */
  readonly clock?: number;
  /** The minimum delay of each write of the store in milliseconds; the maximum is twice as long. */
  readonly delay?: number;
  /** The next synced write fails: `lost` before it was written, `kept` after it. */
  readonly fail?: 'lost' | 'kept';
}

let clock = Number(process.env['ROBUSTNESS_CLOCK'] ?? 0);
let delay = 0;
let fail: FaultSettings['fail'];
const channel = new BroadcastChannel('robustness');
channel.unref();

function apply(settings: FaultSettings): void {
  clock = settings.clock ?? clock;
  delay = settings.delay ?? delay;
  fail = settings.fail ?? fail;
}

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length > 0 ? args : [target.now() + clock], made) as object,
  apply: target => new target(target.now() + clock).toString(),
  get: (target, name) => (name === 'now' ? () => target.now() + clock : Reflect.get(target, name)),
});

const nextDelay = (): number => delay * (1 + Math.random());
const delayed = (): Promise<void> =>
  delay === 0 ? Promise.resolve() : new Promise(resolve => setTimeout(resolve, nextDelay()));

/** Injects delays into the writes of RocksDB's library, which no commit waits for. */
function patchRocksDb(): void {
  const { prototype } = createRequire(import.meta.url)('rocksdb') as { prototype: Database };
  const { write } = prototype;
  prototype.write = function slow(this: Database) {
    const batch = write.call(this);
    const flush = batch.flush.bind(batch);
    batch.flush = () => delayed().then(flush);
    return batch;
  };
}

/** Injects faults into the syncs of the commit log, which block its thread. */
function patchCommitLog(): void {
  const { fdatasyncSync, writeSync } = fs;
  /** The content that the last write replaced. */
  let last: { readonly fd: number; readonly bytes: Buffer; readonly position: number } | undefined;
  fs.writeSync = ((fd: number, bytes: Uint8Array, offset: number, length: number, position?: number) => {
    if (typeof position === 'number') {
      last = { fd, bytes: Buffer.alloc(length), position };
      fs.readSync(fd, last.bytes, 0, length, position);
    }
    return writeSync(fd, bytes, offset, length, position);
  }) as typeof fs.writeSync;
  fs.fdatasyncSync = fd => {
    if (delay > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, nextDelay());
    if (!fail) return fdatasyncSync(fd);
    const failing = fail;
    fail = undefined;
    channel.postMessage({ failed: failing });
    if (failing === 'lost' && last?.fd === fd) writeSync(fd, last.bytes, 0, last.bytes.length, last.position);
    else fdatasyncSync(fd);
    throw new Error('EIO: i/o error, fdatasync');
  };
  syncBuiltinESMExports();
}

/** Injects delays into the writes of the memory store. */
async function patchMemory(): Promise<void> {
  const { MemoryRecords } = await import('../../plugins/storage/memory.js');
  const { batch } = MemoryRecords.prototype;
  MemoryRecords.prototype.batch = function slow() {
    const made = batch.call(this);
    return { ...made, write: async sync => delayed().then(() => made.write(sync)) };
  };
}

channel.onmessage = event => {
  const message = (event as { data: FaultSettings | { failed: string } }).data;
  if (!('failed' in message)) apply(message);
  else if (isMainThread) process.send?.(message);
};

if (isMainThread) {
  process.on('message', (settings: FaultSettings) => {
    apply(settings);
    channel.postMessage(settings);
  });
  // The test has ended without stopping the server.
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
}
patchRocksDb();
patchCommitLog();
await patchMemory();
