/**
 * A separate process, `node --expose-gc --min-semi-space-size=… allocations.js ITEMS`: measures the bytes that each
 * engine allocates for each sample, and prints them as JSON. It measures the growth of the heap and of the buffers
 * outside of it over some calls between which no garbage is collected. The young generation is so large that this
 * is true for all but the slowest encodings of large lists; otherwise nothing is reported.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { readAtRest } from '../lib/process.js';
import { ENGINES, type Operation, runsOf } from './engines.js';
import { type Allocations, keyOf } from './measure.js';
import { makeSamples } from './samples.js';
import { keepResult, type Run } from './time.js';

/** The bytes that the calls of one measurement allocate together if one call allocates less. */
const BUDGET = 8 * 2 ** 20;
const MOST_CALLS = 64;
const WARM_UP_CALLS = 32;
const WARM_UP_MS = 20;
/** V8 frees buffers in a separate thread, some time after the collection. */
const QUIET_MS = 20;

const used = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

let collections = 0;
new PerformanceObserver(list => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

/** The number of garbage collections since the previous call. They are reported in a later turn of the event loop. */
async function takeCollections(): Promise<number> {
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  const counted = collections;
  collections = 0;
  return counted;
}

async function collectGarbage(): Promise<void> {
  keepResult(undefined);
  globalThis.gc?.();
  await readAtRest(used, QUIET_MS, 10 * QUIET_MS);
  await takeCollections();
}

/** Bytes that `calls` calls allocate together; undefined if garbage was collected meanwhile, also in a second try. */
async function growthOf(run: Run, calls: number): Promise<number | undefined> {
  for (let attempt = 0; attempt < 2; attempt++) {
    if (attempt > 0) await collectGarbage();
    const before = used();
    for (let i = 0; i < calls; i++) keepResult(run());
    const after = used();
    if ((await takeCollections()) === 0) return after - before;
  }
  return undefined;
}

/** Bytes per call. */
async function allocatedBy(run: Run): Promise<number | undefined> {
  const until = performance.now() + WARM_UP_MS;
  for (let i = 0; i < WARM_UP_CALLS && performance.now() < until; i++) keepResult(run());
  await takeCollections();
  const once = await growthOf(run, 1);
  if (once === undefined || once * 2 > BUDGET) return once;
  const calls = Math.max(1, Math.min(MOST_CALLS, Math.floor(BUDGET / Math.max(1, once))));
  const all = await growthOf(run, calls);
  return all === undefined ? undefined : all / calls;
}

const allocations: Allocations = {};
for (const sample of makeSamples(Number(process.argv[2]))) {
  for (const engine of ENGINES) {
    for (const [operation, run] of Object.entries(runsOf(engine, sample).run)) {
      const allocated = await allocatedBy(run);
      if (allocated === undefined) continue;
      allocations[keyOf(sample.name, engine.name, operation as Operation)] = Math.round(allocated);
    }
  }
}
console.log(JSON.stringify(allocations));
