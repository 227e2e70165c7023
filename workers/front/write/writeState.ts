import { WRITE_RETRIES } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { warningTexts } from '../../../core/request/warnings.js';
import type { JobResult, Verdict } from '../../../core/threads/messages/messages.js';
import { requestTimeout } from '../answers/refusals.js';

/** The pool's answer for a client. */
export type PoolResponse = Extract<JobResult, { is: 'respond' }>;
/** The pool's message that it has sent a proposal to the writer. */
export type Proposed = Extract<JobResult, { is: 'proposed' }>;

/** An attempt of a write. */
interface Attempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Key of the object that the attempt starts from, where the path does not name it. */
  readonly key?: string;
  /** A refusal of an earlier attempt was due to an outdated object: the next refusal stands. */
  readonly isRechecked: boolean;
  /** Answer after the first of two writes; the attempt is one of the second write. */
  readonly begun?: PoolResponse;
  /** Warnings of earlier attempts, which the answer will also have. */
  readonly warnings?: readonly string[] | undefined;
}

/**
 * The state of a write. The states in the upper half wait for an event and name the function that computes the next
 * state after it; those in the lower half are final.
 */
export type WriteState =
  /** The pool runs the job on the current object. Next: `afterJob`. */
  | ({ readonly is: 'attempting' } & Attempt)
  /** The writer has the proposal. Next: `afterVerdict`. */
  | ({ readonly is: 'proposed'; readonly proposal: Proposed } & Attempt)
  /** The pool has refused; whether the object was current is looked up. Next: `afterRecheck`. */
  | ({ readonly is: 'refused'; readonly refusal: PoolResponse } & Attempt)
  /** Another attempt is due, if the client still waits for it. Next: `afterInterruption`. */
  | ({ readonly is: 'interrupted' } & Attempt)
  /** The client gets this answer. */
  | { readonly is: 'answered'; readonly response: PoolResponse }
  /** The write ends with this error. */
  | { readonly is: 'failed'; readonly error: Error }
  /** Other writes were faster in every attempt: the client gets 409. */
  | { readonly is: 'conflicted' };

type In<State extends WriteState['is']> = Extract<WriteState, { is: State }>;
/** The state in which the pool runs the job. */
export type Attempting = In<'attempting'>;

/** The state after an attempt, when the writer has decided about its proposal. */
export type AttemptedState = Exclude<WriteState, { is: 'proposed' }>;

/** The state of a new write. */
export const FIRST_ATTEMPT: Attempting = { is: 'attempting', attempt: 1, isRechecked: false };

/**
 * The state after the end of the job. `exists` returns whether there is an object with a key: if the server generated
 * the name, this attempt did not have the object, and the next one will.
 */
export function afterJob(state: Attempting, result: JobResult, exists: (key: string) => boolean): WriteState {
  if (result.is === 'proposed') return { ...state, is: 'proposed', proposal: result };
  if (result.is === 'unseen') return interrupted(state, { key: result.key });
  if (result.is !== 'respond') return failed(new Error(`the pool answered a write with ${result.is}`));
  // Another request has already done the second write.
  if (state.begun && result.status === 404) return answered(state.begun);
  if (state.key === undefined && result.key !== undefined && exists(result.key))
    return interrupted(state, { key: result.key, warnings: warningTexts(result.headers) });
  if (result.status < 400 || state.isRechecked) return answered(result);
  return { ...state, is: 'refused', refusal: result };
}

/** The state after the writer's verdict. `answer` makes the answer to a commit at its revision. */
export function afterVerdict(
  state: In<'proposed'>,
  verdict: Verdict,
  answer: (proposal: Proposed, revision: number) => PoolResponse,
): AttemptedState {
  const { proposal } = state;
  const { key } = proposal;
  switch (verdict.is) {
    case 'committed': {
      const response = answer(proposal, verdict.revision);
      return proposal.more ? interrupted(state, { key, begun: response }) : answered(response);
    }
    case 'stale':
      return interrupted(state, { key, warnings: warningTexts(proposal.headers) });
    case 'unavailable':
      return failed(requestTimeout());
    case 'error':
      return failed(new Refusal('InternalError', `Internal error occurred: ${verdict.message}`));
  }
}

/** The state after the cache has caught up with the store. `wasOutdated`: it was behind when the pool was asked. */
export const afterRecheck = (state: In<'refused'>, wasOutdated: boolean): AttemptedState =>
  wasOutdated ? interrupted(state, { isRechecked: true }) : answered(state.refusal);

/**
 * The state before another attempt. `isLate`: the deadline has passed; `isClientGone`: the client has closed the
 * connection.
 */
export function afterInterruption(
  { attempt, key, isRechecked, begun, warnings }: In<'interrupted'>,
  { isLate, isClientGone }: { readonly isLate: boolean; readonly isClientGone: boolean },
): AttemptedState {
  if (isClientGone && !begun) return failed(new Error('the client has closed the connection'));
  if (attempt >= WRITE_RETRIES) return { is: 'conflicted' };
  if (isLate) return failed(requestTimeout());
  return { is: 'attempting', attempt: attempt + 1, key, isRechecked, begun, warnings };
}

const interrupted = (
  { attempt, key, isRechecked, begun, warnings }: Attempt,
  change: Partial<Attempt>,
): AttemptedState => ({
  is: 'interrupted',
  attempt,
  key,
  isRechecked,
  begun,
  warnings,
  ...change,
});
const answered = (response: PoolResponse): AttemptedState => ({ is: 'answered', response });
const failed = (error: Error): AttemptedState => ({ is: 'failed', error });
