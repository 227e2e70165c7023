import { ArrayTaskQueue, Piscina } from 'piscina';

type Balancer = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>;
type PoolWorker = Parameters<Balancer>[1][number];

/** Where a task of the pool runs. Tasks carry it as `Piscina.queueOptionsSymbol`. */
export interface Placement {
  /**
   * `long`: it may take long. `alone`: it may also not return, and runs on a thread without other jobs if there is one.
   * `none`: it only has Piscina make another thread, and is given to none.
   */
  readonly is: 'short' | 'long' | 'alone' | 'none';
  /** `threadId` of the thread that runs it, once it was chosen. */
  thread?: number;
  /** The thread has returned it, but has not answered to Piscina. */
  isHeld?: boolean;
}

/** The placement of a task; undefined if it has none. */
const placementOf = (task: object): Placement | undefined =>
  (task as { [Piscina.queueOptionsSymbol]?: Placement | null })[Piscina.queueOptionsSymbol] ?? undefined;

/** Gives a task its placement. */
export function place(task: object, placement: Placement): void {
  Object.defineProperty(task, Piscina.queueOptionsSymbol, { value: placement });
}

type PiscinaTask = ArrayTaskQueue['tasks'][number];

/** Tasks that wait for a thread. */
export class TaskQueue extends ArrayTaskQueue {
  /** A task for no thread is not kept: Piscina has made a thread for it by then. */
  override push(task: PiscinaTask): void {
    if (placementOf(task)?.is !== 'none') super.push(task);
  }

  /** Drops all tasks without running them. */
  clear(): void {
    this.tasks.length = 0;
  }
}

/** What lanes need to know about the jobs of the threads. */
export interface ThreadJobs {
  /** Whether a thread has jobs without an answer. */
  hasJobs(thread: number): boolean;
  /** Whether a thread must not be given other jobs. */
  isReserved(thread: number): boolean;
}

/**
 * Chooses the threads of the pool's tasks so that short tasks do not wait for long ones. Long tasks run on any thread
 * but the oldest, one at a time on each. Short tasks run on those that run no long one, never on the youngest: split
 * between more threads than cores, they would come in smaller batches, which costs 4 % of the rate of creates. A pool
 * of one thread has no choice. The caller limits long tasks to one less than there are threads, without those of stuck
 * threads. A stuck thread gets no tasks. A thread that still starts gets tasks only if no other is ready, and a
 * reserved one only if there is no other.
 */
export class Lanes {
  /** The id of a thread that has not started, and gets no tasks. */
  absent: number | undefined;
  /** Threads that have started. */
  readonly ready = new Set<number>();
  /** Threads that do not return from a job. */
  readonly stuck = new Set<number>();
  /** The last long task of each thread, by the thread's id, until it has ended. */
  readonly #long = new Map<number, Placement>();
  /** Number of tasks that each thread has not returned. */
  readonly #tasks = new Map<number, number>();
  /** Number of tasks that each thread has returned without an answer to Piscina. */
  readonly #held = new Map<number, number>();

  constructor(
    /** Short tasks that a thread has at once. */
    readonly tasksPerThread: number,
    /** Number of threads, without those in place of stuck ones. */
    readonly threads: number,
    readonly jobs: ThreadJobs,
  ) {}

  /** The `loadBalancer` of Piscina. */
  readonly choose: Balancer = (task, workers) => {
    const placement = placementOf(task);
    if (!placement || placement.is === 'none') return null;
    const usable = this.#usable(workers);
    const chosen = placement.is === 'short' ? this.#forShort(usable) : this.#forLong(usable, placement.is === 'alone');
    if (!chosen) return null;
    placement.thread = chosen.id;
    this.#tasks.set(chosen.id, (this.#tasks.get(chosen.id) ?? 0) + 1);
    if (placement.is !== 'short') this.#long.set(chosen.id, placement);
    return chosen;
  };

  /** To be called when a thread has returned a task, but Piscina is told only later. */
  hold(placement: Placement): void {
    this.#end(placement);
    placement.isHeld = true;
    this.#countHeld(placement, 1);
  }

  /** To be called when Piscina has an answer to a task. Returns whether its thread returns it now. */
  end(placement: Placement): boolean {
    if (!placement.isHeld) this.#end(placement);
    else this.#countHeld(placement, -1);
    return !placement.isHeld;
  }

  #countHeld({ thread }: Placement, change: number): void {
    // A thread that has ended is not known any more.
    if (thread !== undefined && this.#tasks.has(thread)) this.#held.set(thread, (this.#held.get(thread) ?? 0) + change);
  }

  #end(placement: Placement): void {
    const { thread } = placement;
    const tasks = thread === undefined ? undefined : this.#tasks.get(thread);
    if (thread === undefined || tasks === undefined) return;
    this.#tasks.set(thread, tasks - 1);
    if (this.#long.get(thread) === placement) this.#long.delete(thread);
  }

  /** Whether a thread has tasks that it has not returned. */
  hasTasks(thread: number): boolean {
    return (this.#tasks.get(thread) ?? 0) > 0;
  }

  /** Whether a thread would run a long task now without keeping short ones waiting. */
  get hasFreeLane(): boolean {
    const free = [...this.ready]
      .filter(id => !this.stuck.has(id) && id !== this.absent && !this.jobs.isReserved(id))
      .sort((a, b) => a - b);
    return free.length > 1
      ? free.slice(1).some(id => !this.#long.has(id))
      : this.threads === 1 && this.stuck.size === 0;
  }

  /** Forgets a thread that has ended. */
  forget(thread: number): void {
    for (const known of [this.ready, this.stuck, this.#long, this.#tasks, this.#held]) known.delete(thread);
  }

  /** The threads that may get tasks, oldest first. */
  #usable(workers: readonly PoolWorker[]): readonly PoolWorker[] {
    const begun = workers.filter(({ id }) => id !== this.absent && !this.stuck.has(id)).sort((a, b) => a.id - b.id);
    const open = begun.filter(({ id }) => !this.jobs.isReserved(id));
    const ready = open.filter(({ id }) => this.ready.has(id));
    return [ready, open, begun].find(some => some.length > 0) ?? [];
  }

  /** Whether a thread runs a long task. Piscina asks for the next task before it reports the end of the last one. */
  #isBusy({ id, currentUsage }: PoolWorker): boolean {
    return currentUsage > 0 && this.#long.has(id);
  }

  /** The oldest runs long tasks too while others are stuck, so that not all tasks wait in Piscina's queue. */
  #forLong(usable: readonly PoolWorker[], alone: boolean): PoolWorker | null {
    const candidates = (usable.length > 1 ? usable.slice(1) : usable).filter(worker => !this.#isBusy(worker));
    const unused = alone ? candidates.find(({ id }) => !this.jobs.hasJobs(id)) : undefined;
    return unused ?? candidates[0] ?? usable[0] ?? null;
  }

  #forShort(usable: readonly PoolWorker[]): PoolWorker | null {
    const free = usable.length > 1 ? usable.slice(0, -1).filter(worker => !this.#isBusy(worker)) : usable;
    let best: PoolWorker | null = null;
    let least = this.tasksPerThread;
    for (const worker of free) {
      const usage = worker.currentUsage - (this.#held.get(worker.id) ?? 0);
      if (usage >= least) continue;
      best = worker;
      least = usage;
    }
    return best;
  }
}
