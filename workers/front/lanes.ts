import { Piscina } from 'piscina';

type Balancer = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>;
type PoolWorker = Parameters<Balancer>[1][number];

/** What the tasks of the pool carry as `Piscina.queueOptionsSymbol`, if they may take long. */
interface LongTask {
  /** `threadId` of the thread that runs it, once it was chosen. */
  thread?: number;
}

/**
 * Chooses the threads of the pool's tasks so that short tasks do not wait for long ones. Long tasks run on any thread
 * but the oldest, one at a time on each. Short tasks run on those that run no long one, never on the youngest: split
 * between more threads than cores, they come in smaller batches (4 % of the rate of creates). A pool of one thread has
 * no choice. The caller limits long tasks to one less than there are threads.
 */
export class Lanes {
  /** The id of a thread that has not started, and gets no tasks. */
  absent: number | undefined;
  /** The last long task of each thread, by the thread's id, until it has ended. */
  readonly #long = new Map<number, LongTask>();

  constructor(
    /** Short tasks that a thread has at once. */
    readonly tasksPerThread: number,
  ) {}

  /** The `loadBalancer` of Piscina. */
  readonly choose: Balancer = (task, workers) => {
    const inOrder = workers.filter(({ id }) => id !== this.absent).sort((a, b) => a.id - b.id);
    const long = (task as unknown as { [Piscina.queueOptionsSymbol]: LongTask | null })[Piscina.queueOptionsSymbol];
    if (!long) return this.#forShort(inOrder);
    const candidates = inOrder.length > 1 ? inOrder.slice(1) : inOrder;
    const chosen = candidates.find(worker => !this.#isBusy(worker));
    if (!chosen) return null;
    long.thread = chosen.id;
    this.#long.set(chosen.id, long);
    return chosen;
  };

  /** Marks a task as one that may take long. Returns the function to call when it has ended. */
  markLong(task: object): () => void {
    const long: LongTask = {};
    Object.defineProperty(task, Piscina.queueOptionsSymbol, { value: long });
    return () => {
      if (long.thread !== undefined && this.#long.get(long.thread) === long) this.#long.delete(long.thread);
    };
  }

  /** Whether a thread runs a long task. Piscina asks for the next task before it reports the end of the last one. */
  #isBusy({ id, currentUsage }: PoolWorker): boolean {
    return currentUsage > 0 && this.#long.has(id);
  }

  #forShort(workers: readonly PoolWorker[]): PoolWorker | null {
    const free = workers.length > 1 ? workers.slice(0, -1).filter(worker => !this.#isBusy(worker)) : workers;
    let best: PoolWorker | null = null;
    let least = this.tasksPerThread;
    for (const worker of free) {
      const usage = worker.currentUsage;
      if (usage >= least) continue;
      best = worker;
      least = usage;
    }
    return best;
  }
}
