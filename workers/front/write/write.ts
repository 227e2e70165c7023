import { WRITE_MS } from '../../../core/limits.js';
import { conflict, MODIFIED } from '../../../core/model/refusal.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import { uidIn } from '../../../core/plugin/informers/stored.js';
import { objectName } from '../../../core/request/connect.js';
import { keyOf } from '../../../core/request/keys.js';
import type { Route } from '../../../core/request/route.js';
import { warningTexts } from '../../../core/request/warnings.js';
import { type Entry, nameIn, storageNameIn } from '../../../core/threads/entries/entry.js';
import type { Current, Job } from '../../../core/threads/messages/messages.js';
import { commitAnswer } from './commitAnswer.js';
import type { JobFields, PoolClient } from '../pool/poolClient.js';
import type { OpenProposal, Proposals } from './proposals.js';
import type { ReadContext } from '../reads/readContext.js';
import type { FrontRequest } from '../access/sender.js';
import type { State } from '../state/state.js';
import {
  type AttemptedState,
  type Attempting,
  afterInterruption,
  afterJob,
  afterRecheck,
  afterVerdict,
  FIRST_ATTEMPT,
  type PoolResponse,
} from './writeState.js';

/** The parts of the front end that writes need. */
export interface WriteContext {
  readonly state: State;
  readonly reads: Pick<ReadContext, 'catchUp' | 'mostRecent'>;
  readonly pool: Pick<PoolClient, 'run'>;
  readonly proposals: Proposals;
}

/** The part of a job that a write determines: the body and, for a delete of a deletecollection, the object's path. */
export type WriteJob = Pick<Job, 'body'> & Partial<Pick<Job, 'path' | 'granted' | 'collection'>>;

/**
 * Runs a write: an attempt starts from the current object. If that changes before the writer has the proposal, another
 * attempt is made with the newer object, a bounded number of times. Throws Refusal 409, 429, 500 and 504, and an Error
 * if the pool's thread ends or the client is gone.
 */
export const runWrite = (context: WriteContext, request: FrontRequest, job: WriteJob): Promise<PoolResponse> =>
  new Write(context, request, job).run();

/** One write: carries out the action of each state. */
class Write {
  readonly #deadline: number;
  /** The object that the last attempt started from, and the revision of the cache then. */
  #current: Current | undefined;
  #revision = 0;
  /** The object that the last attempt of the first write started from. */
  #first: Current | undefined;

  constructor(
    readonly context: WriteContext,
    readonly request: FrontRequest,
    readonly job: WriteJob,
  ) {
    this.#deadline = context.state.now() + WRITE_MS;
  }

  async run(): Promise<PoolResponse> {
    let state: AttemptedState | Attempting = FIRST_ATTEMPT;
    for (;;) {
      switch (state.is) {
        case 'attempting':
          state = await this.#attempt(state);
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

  /** Runs the job, and waits for the verdict on its proposal if it has made one. */
  async #attempt(state: Attempting): Promise<AttemptedState> {
    const { pool, proposals, state: cache } = this.context;
    const proposal = proposals.open();
    try {
      const bytes = (this.job.body?.length ?? 0) + (this.#find(this.#keyOf(state.key))?.length ?? 0);
      const first = this.job.body?.[0];
      const result = await pool.run(this.request, () => this.#jobOf(state, proposal), bytes, first);
      const next = afterJob(state, result, key => this.#isUnseen(key));
      if (next.is !== 'proposed') return next;
      const verdict = await proposals.verdictOn(proposal);
      return afterVerdict(next, verdict, (proposed, revision) => {
        this.request.sender.written = nameIn(proposed.key);
        return commitAnswer(proposed, revision, cache, this.#current);
      });
    } finally {
      proposals.close(proposal);
    }
  }

  /** The job of an attempt, on the object as it is now. */
  #jobOf({ key, begun, warnings: earlier }: Attempting, { id }: OpenProposal): JobFields {
    const { reads, state } = this.context;
    const { body, path, granted, collection } = this.job;
    reads.catchUp();
    this.#revision = state.revision;
    this.#current = this.#currentOf(this.#keyOf(key));
    if (!begun) this.#first = this.#current;
    // The second write is not done to an object that has replaced the one of the first.
    else if (!isSame(this.#first, this.#current)) this.#current = undefined;
    const current = this.#current;
    // Validators are asked about the first of two writes: the answer to the second has their warnings.
    const warnings = begun ? warningTexts(begun.headers) : earlier;
    return { id, path, body, current, currentKey: key, begun: begun !== undefined, granted, collection, warnings };
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

  /** The key of the object that the path names or, where it names none, `key`. */
  #keyOf(key: string | undefined): string | undefined {
    const { target, resource, subresource } = this.request.route;
    const { name, namespace } = target as ResourceTarget;
    return resource && name !== '' ? keyOf(resource, namespace, objectName(resource, subresource, name)) : key;
  }

  /** The object that an attempt starts from. For an unreadable one, the pool gets the value that the store returned. */
  #currentOf(key: string | undefined): Current | undefined {
    if (key === undefined) return undefined;
    const broken = this.context.state.collections.get(storageNameIn(key))?.unreadable.get(key);
    if (broken) return { bytes: broken.value, revision: broken.revision };
    const entry = this.#find(key);
    return entry && { bytes: entry.value, revision: entry.revision };
  }

  /** The current object of a key. */
  #find(key: string | undefined): Entry | undefined {
    return key === undefined ? undefined : this.context.state.collections.get(storageNameIn(key))?.entries.get(key);
  }
}

/** Whether two versions are of the same object, and not of another one with its name. */
const isSame = (one: Current | undefined, other: Current | undefined): boolean =>
  one !== undefined && other !== undefined && uidIn(one.bytes) === uidIn(other.bytes);

/** 409 for an object that others have changed in every attempt. */
function conflictError({ target, resource }: Route): Error {
  const { resource: plural, name } = target as ResourceTarget;
  return conflict({ group: resource?.group ?? '', resource: plural }, name, MODIFIED);
}
