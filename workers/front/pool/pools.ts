import type { Service } from '../../../core/api/plugin/pluginService.js';
import type { Awaitable } from '../../../core/api/point.js';
import { WRITE_MS } from '../../../core/limits.js';
import type { ThreadData } from '../../../core/threads/data.js';
import type { Job, JobResult } from '../../../core/threads/messages/messages.js';
import type { ThreadReading } from '../../../core/threads/scheduling.js';
import type { Usage } from '../fairness/usage.js';
import type { JobRunner, Pool } from './pool.js';

/** The pool that runs jobs now: it can be replaced by one with other plugins. Requests continue meanwhile. */
export class Pools implements JobRunner {
  #current: Pool;
  /** Pools that finish their jobs. */
  readonly #former = new Set<Pool>();
  #isClosing = false;

  constructor(
    readonly create: (data: ThreadData) => Pool,
    data: ThreadData,
  ) {
    this.#current = create(data);
  }

  /** The pool that runs jobs now. */
  get current(): Pool {
    return this.#current;
  }

  /** The times of all threads, including those of pools that finish their jobs. */
  get readings(): ThreadReading[] {
    return [this.#current, ...this.#former].flatMap(({ readings }) => readings);
  }

  get costs(): JobRunner['costs'] {
    return this.#current.costs;
  }

  run(job: Job, kind?: string, user?: string): Promise<JobResult> {
    return this.#current.run(job, kind, user);
  }

  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined> {
    return this.#current.runInTurn(sender, take, kind);
  }

  /** See `Pool.takeOutcomes`. */
  takeOutcomes(): void {
    this.#current.takeOutcomes();
    for (const pool of this.#former) pool.takeOutcomes();
  }

  /**
   * Starts a pool with other data, and the services that its plugins ask. Resolves when it can run jobs, with a
   * function that gives it all further ones, while the previous pool finishes its own and ends: then `ended` is called.
   * The function resolves when all threads have started. Rejects if the plugins cannot be loaded.
   */
  async prepare(
    data: ThreadData,
    services: ReadonlyMap<string, Service>,
  ): Promise<(ended: () => Promise<void>) => Promise<void>> {
    const next = this.create(data);
    this.#former.add(next);
    try {
      next.begin();
      await next.startServices(services);
      await next.ready();
    } catch (error) {
      await next.close();
      this.#former.delete(next);
      throw error;
    }
    return ended => this.#use(next, ended);
  }

  /** Ends all threads. Jobs in flight are refused with 503. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#current, ...this.#former].map(pool => pool.close()));
  }

  async #use(next: Pool, ended: () => Promise<void>): Promise<void> {
    const former = this.#current;
    this.#former.delete(next);
    this.#former.add(former);
    this.#current = next;
    void this.#end(former).then(ended);
    // If the last thread cannot start, it is replaced, and the failure is logged.
    await next.complete().catch(() => undefined);
  }

  /** Ends a pool, when its jobs have ended. */
  async #end(pool: Pool): Promise<void> {
    await pool.whenIdle(WRITE_MS);
    if (this.#isClosing) return;
    await pool.close();
    this.#former.delete(pool);
  }
}
