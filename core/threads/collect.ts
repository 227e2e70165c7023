import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clearInterval, setInterval, setTimeout } from '../runtime/timers.js';

/** Delay of the collection, in which the last messages of a start are sent. */
const DELAY_MS = 1000;
/** How often a thread looks whether it is idle. */
const LOOK_MS = 5000;
/** A thread that is busy for a smaller share of the time is idle; time in which it waits for a core counts as busy. */
const IDLE_SHARE = 0.1;
/**
 * Idle looks in a row until the garbage of a start is collected. V8 gives the memory of its young generation back only
 * if little was allocated in the five seconds before a collection.
 */
const START_LOOKS = 2;
/**
 * Idle looks in a row after which a thread rests: a minute. A collection of a thread without work loses optimized code,
 * whose closures and shapes of objects are garbage as well: requests after it take twice the CPU time until V8 has
 * optimized the code again, some 3,000 creates later (docs/decisions/0035-optimized-code.md).
 */
const REST_LOOKS = 12;
/** How often the function that collects garbage is asked for: another thread may hide it at the same time. */
const TRIES = 10;
/** The most looks between two collections of a heap that stays large: some five minutes. */
const MAX_PAUSE = 64;
/** Size of a heap from which the garbage of a start is not left until the thread is idle. */
const SOON_BYTES = 48 * 1024 * 1024;
/** Growth of a heap from which a collection is worth its time. */
const WORTH_BYTES = 16 * 1024 * 1024;
/** Growth from which a collection is worth the loss of optimized code. */
const LARGE_BYTES = 128 * 1024 * 1024;

/**
 * Collects the garbage of this thread. Flags count for the whole process, and V8 refuses code caches that were made
 * with others (`core/chunk.ts`), so that this one is reset.
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

/** Bytes of memory of the heap, and of buffers outside that it holds. */
function heapBytes(): number {
  const { total_physical_size: heap, external_memory: outside } = getHeapStatistics();
  return heap + outside;
}

/**
 * Collects the garbage of this thread once, after a second, if its heap is large. Called at the end of a thread's
 * start: V8 does not collect in an idle thread, so that the garbage of the start would stay in memory until
 * `IdleCollector` looks (100 MB in the writer with 50,000 objects of 1 KB). A collection takes some tens of
 * milliseconds of CPU, which is much of the start of a server with few objects.
 */
export function collectGarbageSoon(): void {
  setTimeout(() => heapBytes() >= SOON_BYTES && collectGarbage(), DELAY_MS).unref();
}

/** The readings that a collector takes of its thread; replaced in tests. */
export interface HeapReadings {
  /** Bytes of memory of the heap, and of buffers outside that it holds. */
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
  /** Idle looks in a row. */
  #rest = REST_LOOKS - START_LOOKS;
  /** Looks until the next collection may be, and after the one before. */
  #wait = 0;
  #pause = 0;
  /** Whether the garbage of the start is there. */
  #isNew = true;

  constructor(readonly readings: HeapReadings) {}

  /** To be called now and then. */
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
    // Memory in use now may be garbage soon, so it is collected again. Memory that stays is collected less and less
    // often.
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
 * Collects the garbage of this thread when it is idle after its start or a burst. Returns a function that ends this.
 */
export function collectGarbageWhenIdle(): () => void {
  const collector = new IdleCollector(readingsOfThread());
  const timer = setInterval(() => collector.look(), LOOK_MS).unref();
  return () => clearInterval(timer);
}
