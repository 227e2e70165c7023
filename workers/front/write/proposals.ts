import { POOL_QUEUE, WRITE_MS } from '../../../core/limits.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import type { Verdict } from '../../../core/threads/messages/messages.js';
import { MAIN_FRONT, ownId, proposalId } from '../../../core/threads/proposalIds.js';
import { Deadlines } from '../fairness/deadlines.js';
import { requestTimeout, tooBusy } from '../answers/refusals.js';

/** A proposal that a job may make. */
export interface OpenProposal {
  /** The id of the job and of its proposal. */
  readonly id: number;
  /** Resolves when the writer has decided about the proposal. */
  readonly verdict: Promise<Verdict>;
}

/** An open proposal, with the deadline for its verdict once it was made. */
class Open implements OpenProposal {
  id = 0;
  deadline: number | undefined;
  settle!: (verdict: Verdict) => void;
  readonly verdict = new Promise<Verdict>(resolve => (this.settle = resolve));
}

/** Proposals that the writer has not decided about, and those that jobs in flight may still make. */
export class Proposals {
  readonly #open = new InFlight<Open>();
  readonly #deadlines = new Deadlines(WRITE_MS);
  #hasWriterEnded = false;

  constructor(
    /** The number of the front end. */
    readonly front: number = MAIN_FRONT,
  ) {}

  /**
   * Opens a proposal; it stays open until `close` is called. Throws Refusal 429 over the bound on open proposals, and
   * 504 once the writer has ended.
   */
  open(): OpenProposal {
    // The pool's bound counts a job until it is answered: without this one, proposals to a slow store would pile up.
    if (this.#open.size >= POOL_QUEUE) throw tooBusy();
    if (this.#hasWriterEnded) throw requestTimeout();
    const proposal = new Open();
    proposal.id = proposalId(this.front, this.#open.add(proposal));
    return proposal;
  }

  /** Forgets a proposal: a later verdict is ignored. */
  close({ id }: OpenProposal): void {
    const own = ownId(id);
    const deadline = this.#open.get(own)?.deadline;
    if (deadline !== undefined) this.#deadlines.clear(deadline);
    this.#open.delete(own);
  }

  /**
   * The writer's verdict on a proposal that the pool has sent. `unavailable` if there is none within WRITE_MS: the
   * proposal may be committed later.
   */
  verdictOn({ id, verdict }: OpenProposal): Promise<Verdict> {
    const proposal = this.#open.get(ownId(id));
    if (proposal)
      proposal.deadline = this.#deadlines.set(() =>
        proposal.settle({ id, is: 'unavailable', message: 'the writer has not answered in time' }),
      );
    return verdict;
  }

  /** Takes verdicts of the writer. */
  settle(verdicts: readonly Verdict[]): void {
    for (const verdict of verdicts) this.#open.get(ownId(verdict.id))?.settle(verdict);
  }

  /** Ends all open proposals as `unavailable`: the writer may have carried them out, or not. */
  writerEnded(): void {
    this.#hasWriterEnded = true;
    for (const [, proposal] of this.#open)
      proposal.settle({ id: proposal.id, is: 'unavailable', message: 'the writer has ended' });
  }
}
