import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clearInterval, setInterval, setTimeout } from '../runtime/timers.js';

/** Delay of the collection, during which the last messages of the start are sent. */
const DELAY_MS = 1000;
/** How often a thread checks whether it is idle. */
const LOOK_MS = 5000;
/** A thread that is busy for a smaller share of the time is idle; time in which it waits for a core counts as busy. */
const IDLE_SHARE = 0.1;
/**
 * Consecutive idle checks after which the garbage of the start is collected. V8 releases the memory of its young
 * generation only if little was allocated in the five seconds before a collection.
 */
const START_LOOKS = 2;
/**
 * Consecutive idle checks after which a thread is considered at rest: a minute. A collection in a thread without work
 * discards optimized code, because its closures and object shapes are garbage as well: later requests take twice the
 * CPU time until V8 has optimized the code again, about 3,000 creates later (docs/decisions/0035-optimized-code.md).
 */
const REST_LOOKS = 12;
/** Attempts to get the function that collects garbage: another thread may hide it at the same time. */
const TRIES = 10;
/** The largest number of checks between two collections of a heap that stays large: some five minutes. */
const MAX_PAUSE = 64;
/** Size of a heap from which the garbage of the start is collected without waiting until the thread is idle. */
const SOON_BYTES = 48 * 1024 * 1024;
/** Growth of a heap from which a collection is worth its time. */
const WORTH_BYTES = 16 * 1024 * 1024;
/** Growth from which a collection is worth the loss of optimized code. */
const LARGE_BYTES = 128 * 1024 * 1024;

/**
 * Collects the garbage of this thread. Flags apply to the whole process, and V8 rejects code caches that were made with
 * other flags (`core/chunk.ts`), so this flag is reset.
 */
function collectGarbage(): void {
  let gc: (() => void) | undefined;
  for (let tries = 0; !gc && tries < TRIES; tries++) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('globalThis.gc') as typeof gc;
    setFlagsFromString('--no-expose-gc');
  }
  gc?.();
}

/** Bytes of the heap, and of buffers outside it that it refers to. */
function heapBytes(): number {
  const { total_physical_size: heap, external_memory: outside } = getHeapStatistics();
  return heap + outside;
}

/**
 * Collects the garbage of this thread once, after a second, if its heap is large. Called at the end of a thread's
 * start: V8 does not collect in an idle thread, so the garbage of the start would stay in memory until the first check
 * of `IdleCollector` (100 MB in the writer with 50,000 objects of 1 KB). A collection takes some tens of milliseconds
 * of CPU, which is a large part of the start of a server with few objects.
 */
export function collectGarbageSoon(): void {
  setTimeout(() => heapBytes() >= SOON_BYTES && collectGarbage(), DELAY_MS).unref();
}

/** The readings that a collector takes of its thread; replaced in tests. */
export interface HeapReadings {
  /** Bytes of the heap, and of buffers outside it that it refers to. */
  bytes(): number;
  /** Share of the time since the last call in which the thread was busy, from 0 to 1. */
  busyShare(): number;
  collect(): void;
}

function readingsOfThread(): HeapReadings {
  let last = performance.eventLoopUtilization();
  return {
    bytes: heapBytes,
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    collect: collectGarbage,
  };
}

/**
 * Collects the garbage of a thread when it has nothing to do: that of its start, and then whenever its heap has grown
 * since the last collection. V8 leaves garbage in idle threads, 150 MB after a burst of large bodies, and 30 MB after a
 * start.
 */
export class IdleCollector {
  /** The smallest size so far. */
  #smallest = Number.POSITIVE_INFINITY;
  /** Consecutive idle checks. */
  #rest = REST_LOOKS - START_LOOKS;
  /** Checks until the next collection is allowed, and between the previous one and it. */
  #wait = 0;
  #pause = 0;
  /** Whether the garbage of the start was not collected yet. */
  #isNew = true;

  constructor(readonly readings: HeapReadings) {}

  /** To be called at regular intervals. */
  look(): void {
    const { readings } = this;
    const isIdle = readings.busyShare() < IDLE_SHARE;
    this.#rest = isIdle ? this.#rest + 1 : 0;
    this.#wait--;
    const growth = this.#growth();
    if (growth < WORTH_BYTES && !this.#isNew) return;
    if (!isIdle || this.#wait > 0) return;
    if (this.#rest < REST_LOOKS && growth < LARGE_BYTES) return;
    this.#isNew = false;
    readings.collect();
    // Memory in use now may be garbage soon, so it is collected again. If memory stays in use, collections become less
    // and less frequent.
    if (this.#growth() >= WORTH_BYTES) this.#pause = Math.min(Math.max(1, this.#pause * 2), MAX_PAUSE);
    this.#wait = this.#pause;
  }

  /** Bytes since the smallest size. */
  #growth(): number {
    const bytes = this.readings.bytes();
    this.#smallest = Math.min(this.#smallest, bytes);
    const growth = bytes - this.#smallest;
    if (growth < WORTH_BYTES) this.#pause = 0;
    return growth;
  }
}

/**
 * Collects the garbage of this thread when it is idle after its start or a burst. Returns a function that stops this.
 */
export function collectGarbageWhenIdle(): () => void {
  const collector = new IdleCollector(readingsOfThread());
  const timer = setInterval(() => collector.look(), LOOK_MS).unref();
  return () => clearInterval(timer);
}
