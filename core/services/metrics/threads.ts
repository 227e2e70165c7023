import { Counter, Gauge, type Registry } from 'prom-client';
import type { Thread } from '../../api/host.js';
import type { ThreadReading } from '../../threads/scheduling.js';

type Times = Pick<ThreadReading, 'busy' | 'ran'>;

/** The metrics of the four kinds of thread, from readings that are taken at each scrape. */
export class ThreadMetrics {
  readonly #count: Gauge;
  readonly #busy: Counter;
  readonly #ran: Counter;
  /** The last readings of the threads that run. */
  #last: ReadonlyMap<number, ThreadReading> = new Map();
  /** The times of threads that have ended and were replaced: counters must not decrease. */
  readonly #ended = new Map<Thread, Times>();

  constructor(registry: Registry) {
    const common = { labelNames: ['thread'], registers: [registry] };
    this.#count = new Gauge({ ...common, name: 'capstan_threads', help: 'Threads, by kind.' });
    this.#busy = new Counter({
      ...common,
      name: 'capstan_thread_busy_seconds_total',
      help: 'Time in which threads did not wait for work, in seconds, by kind of thread.',
    });
    this.#ran = new Counter({
      ...common,
      name: 'capstan_thread_cpu_seconds_total',
      help: 'Processor time of threads, in seconds, by kind of thread. Only on Linux.',
    });
  }

  /** Takes readings of all threads. The time of a thread between its last reading and its end is not counted. */
  take(readings: readonly ThreadReading[]): void {
    const running = new Map(readings.filter(({ id }) => id >= 0).map(reading => [reading.id, reading]));
    for (const [id, last] of this.#last)
      if (!running.has(id)) this.#ended.set(last.thread, sum(this.#ended.get(last.thread), last));
    this.#last = running;
    const totals = new Map(this.#ended);
    for (const metric of [this.#count, this.#busy, this.#ran]) metric.reset();
    for (const reading of running.values()) {
      totals.set(reading.thread, sum(totals.get(reading.thread), reading));
      this.#count.inc({ thread: reading.thread });
    }
    for (const [thread, { busy, ran }] of totals) {
      this.#busy.inc({ thread }, busy / 1000);
      if (ran !== undefined) this.#ran.inc({ thread }, ran / 1000);
    }
  }
}

/** The sum of times; undefined if neither is known. */
const sum = (a: Times | undefined, b: Times): Times => ({
  busy: (a?.busy ?? 0) + b.busy,
  ran: a?.ran === undefined && b.ran === undefined ? undefined : (a?.ran ?? 0) + (b.ran ?? 0),
});
