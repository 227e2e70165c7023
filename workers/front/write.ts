import { WRITE_MS } from '../../core/limits.js';
import { conflict, MODIFIED } from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import { keyOf } from '../../core/request/keys.js';
import type { Route } from '../../core/request/route.js';
import { storageNameIn } from '../../core/threads/entry.js';
import type { Current, Job } from '../../core/threads/messages.js';
import { commitAnswer } from './commitAnswer.js';
import type { JobFields, PoolClient } from './poolClient.js';
import type { OpenProposal, Proposals } from './proposals.js';
import type { ReadContext } from './readContext.js';
import type { FrontRequest } from './sender.js';
import type { State } from './state.js';
import {
  type Attempting,
  afterInterruption,
  afterJob,
  afterRecheck,
  afterVerdict,
  FIRST_ATTEMPT,
  type PoolResponse,
  type WriteState,
} from './writeState.js';

/** What writes need of the front end. */
export interface WriteContext {
  readonly state: State;
  readonly reads: Pick<ReadContext, 'catchUp' | 'mostRecent'>;
  readonly pool: Pick<PoolClient, 'run'>;
  readonly proposals: Proposals;
}

/** What a write gives to the pool: its body and, for one of the deletes of a deletecollection, the object's path. */
export type WriteJob = Pick<Job, 'body'> & Partial<Pick<Job, 'path' | 'granted'>>;

/**
 * Runs a write: an attempt starts from the current object, and where that changes before the writer has the proposal,
 * there is another attempt with the newer object, a bounded number of times. Throws Refusal 409, 429, 500 and 504, and
 * an Error if the pool's thread ends or the client is gone.
 */
export const runWrite = (context: WriteContext, request: FrontRequest, job: WriteJob): Promise<PoolResponse> =>
  new Write(context, request, job).run();

/** One write: does what each state asks for. */
class Write {
  readonly #deadline: number;
  /** What the last attempt started from, and the revision of the cache then. */
  #current: Current | undefined;
  #revision = 0;
  /** The proposal that the last attempt has made. */
  #proposal: OpenProposal | undefined;

  constructor(
    readonly context: WriteContext,
    readonly request: FrontRequest,
    readonly job: WriteJob,
  ) {
    this.#deadline = context.state.now() + WRITE_MS;
  }

  async run(): Promise<PoolResponse> {
    let state: WriteState = FIRST_ATTEMPT;
    for (;;) {
      switch (state.is) {
        case 'attempting':
          state = await this.#attempt(state);
          break;
        case 'proposed':
          state = await this.#awaitVerdict(state);
          break;
        case 'refused':
          state = afterRecheck(state, await this.#wasOutdated());
          break;
        case 'interrupted':
          state = afterInterruption(state, {
            isLate: this.context.state.now() >= this.#deadline,
            isClientGone: this.request.exchange.aborted,
          });
          break;
        case 'answered':
          return state.response;
        case 'failed':
          throw state.error;
        case 'conflicted':
          throw conflictError(this.request.route);
      }
    }
  }

  async #attempt(state: Attempting): Promise<WriteState> {
    const { pool, proposals } = this.context;
    const proposal = proposals.open();
    this.#proposal = undefined;
    try {
      const bytes = (this.job.body?.length ?? 0) + (this.#currentObject(state.key)?.bytes.length ?? 0);
      const result = await pool.run(this.request, () => this.#jobOf(state, proposal), bytes);
      if (result.is === 'proposed') this.#proposal = proposal;
      return afterJob(state, result, key => this.#isUnseen(key));
    } finally {
      if (!this.#proposal) proposals.close(proposal);
    }
  }

  /** The job of an attempt, on the object as it is now. */
  #jobOf({ key, begun }: Attempting, { id }: OpenProposal): JobFields {
    const { reads, state } = this.context;
    reads.catchUp();
    this.#revision = state.revision;
    this.#current = this.#currentObject(key);
    return { ...this.job, id, current: this.#current, currentKey: key, begun: begun !== undefined };
  }

  async #awaitVerdict(state: Extract<WriteState, { is: 'proposed' }>): Promise<WriteState> {
    const { proposals, state: cache } = this.context;
    const proposal = this.#proposal!;
    try {
      const verdict = await proposals.verdictOn(proposal);
      return afterVerdict(state, verdict, (proposed, revision) =>
        commitAnswer(proposed, revision, cache.history, this.#current),
      );
    } finally {
      proposals.close(proposal);
    }
  }

  /**
   * Whether another process has changed something since the last attempt began; the cache has it by now. Throws
   * Refusal 504.
   */
  async #wasOutdated(): Promise<boolean> {
    const { reads, state } = this.context;
    const recent = reads.mostRecent();
    if (!recent) return false;
    await recent;
    return state.revision > this.#revision;
  }

  /** Whether there is an object that an attempt could not start from, because the path does not name it. */
  #isUnseen(key: string): boolean {
    return (this.request.route.target as ResourceTarget).name === '' && this.#find(key) !== undefined;
  }

  /** The object that the path names or, where it names none, the one with this key. */
  #currentObject(key: string | undefined): Current | undefined {
    const { target, resource } = this.request.route;
    const { name, namespace } = target as ResourceTarget;
    const wanted = resource && name !== '' ? keyOf(resource, namespace, name) : key;
    return wanted === undefined ? undefined : this.#find(wanted);
  }

  #find(key: string): Current | undefined {
    const entry = this.context.state.collections.get(storageNameIn(key))?.entries.get(key);
    return entry && { bytes: entry.value, revision: entry.revision };
  }
}

/** 409 for an object that others have changed in every attempt. */
function conflictError({ target, resource }: Route): Error {
  const { resource: plural, name } = target as ResourceTarget;
  return conflict({ group: resource?.group ?? '', resource: plural }, name, MODIFIED);
}
