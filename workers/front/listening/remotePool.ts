import type { Awaitable } from '../../../core/api/point.js';
import { POOL_BATCH } from '../../../core/limits.js';
import { setImmediate } from '../../../core/runtime/timers.js';
import { packJobs, unpackOutcomes } from '../../../core/threads/messages/jobs.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import {
  errorOf,
  type FromListeningThread,
  type JobOrder,
  type ToListeningThread,
} from '../../../core/threads/messages/listening.js';
import type { Job, JobResult } from '../../../core/threads/messages/messages.js';
import type { JobRunner } from '../pool/pool.js';
import type { Usage } from '../fairness/usage.js';

type Answer = Extract<ToListeningThread, { is: 'outcomes' | 'jobFailed' | 'turn' }>;

/** A job without an answer. */
interface Waiting {
  readonly resolve: (result: JobResult | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** For a long job: called when it is its turn. */
  readonly take?: () => Awaitable<Job | undefined>;
}

/**
 * The pool for a listening thread: the main thread runs its jobs with those of all front ends. The jobs of one turn of
 * the event loop are posted together.
 */
export class RemotePool implements JobRunner {
  readonly #jobs = new InFlight<Waiting>();
  #gathered: { readonly order: JobOrder; readonly job: Job }[] = [];
  #isScheduled = false;

  constructor(readonly post: (message: FromListeningThread, transfer?: ArrayBuffer[]) => void) {}

  /** The main thread knows which kinds of jobs have taken long, and has them wait for their turn. */
  readonly costs = { isLong: () => false };

  run(job: Job, kind?: string, user = ''): Promise<JobResult> {
    return new Promise((resolve, reject) => {
      const id = this.#jobs.add({ resolve: resolve as Waiting['resolve'], reject });
      this.#gathered.push({ order: { id, kind, user }, job });
      if (this.#gathered.length >= POOL_BATCH) return this.#send();
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        if (this.#gathered.length > 0) this.#send();
      });
    });
  }

  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  runInTurn({ user }: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined> {
    return new Promise((resolve, reject) => {
      const id = this.#jobs.add({ resolve, reject, take });
      this.post({ is: 'turn', id, kind, user });
    });
  }

  /** Takes an answer of the main thread. */
  take(answer: Answer): void {
    switch (answer.is) {
      case 'outcomes':
        for (const [i, outcome] of unpackOutcomes(answer.outcomes).entries())
          if (outcome?.is === 'failed') this.#end(answer.ids[i]!)?.reject(new Error(outcome.message));
          else if (outcome) this.#end(answer.ids[i]!)?.resolve(outcome);
        return;
      case 'jobFailed':
        this.#end(answer.id)?.reject(errorOf(answer.error));
        return;
      case 'turn':
        void this.#takeTurn(answer.id);
    }
  }

  /** Posts the long job whose turn it is. */
  async #takeTurn(id: number): Promise<void> {
    let job: Job | undefined;
    try {
      job = await this.#jobs.get(id)?.take?.();
      if (!job) this.#end(id)?.resolve(undefined);
    } catch (error) {
      this.#end(id)?.reject(error);
    }
    // Posted even without a job: the main thread waits for this message before it gives the next turn.
    const [jobs, transfer] = packJobs(job ? [job] : []);
    this.post({ is: 'taken', id, jobs }, transfer);
  }

  #end(id: number): Waiting | undefined {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    return job;
  }

  #send(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    const [jobs, transfer] = packJobs(gathered.map(({ job }) => job));
    this.post({ is: 'run', orders: gathered.map(({ order }) => order), jobs }, transfer);
  }
}
