import { POOL_QUEUE, WRITE_MS } from '../../core/limits.js';
import { InFlight } from '../../core/threads/inFlight.js';
import type { Verdict } from '../../core/threads/messages.js';
import { Deadlines } from './deadlines.js';
import { requestTimeout, tooBusy } from './refusals.js';

/** A proposal that a job may make. */
export interface OpenProposal {
  /** The id of the job and of its proposal. */
  readonly id: number;
  /** Resolves when the writer has decided about the proposal. */
  readonly verdict: Promise<Verdict>;
}

/** Proposals that the writer has not decided about, and those that jobs in flight may still make. */
export class Proposals {
  readonly #open = new InFlight<(verdict: Verdict) => void>();
  readonly #deadlines = new Deadlines(WRITE_MS);
  #hasWriterEnded = false;

  /**
   * Opens a proposal; it stays open until `close` is called. Throws Refusal 429 over the bound on open proposals, and
   * 504 once the writer has ended.
   */
  open(): OpenProposal {
    // The pool's bound counts a job until it is answered: without this one, a slow store would gather any number.
    if (this.#open.size >= POOL_QUEUE) throw tooBusy();
    if (this.#hasWriterEnded) throw requestTimeout();
    let settle!: (verdict: Verdict) => void;
    const verdict = new Promise<Verdict>(resolve => (settle = resolve));
    return { id: this.#open.add(settle), verdict };
  }

  /** Forgets a proposal: a later verdict is ignored. */
  close({ id }: OpenProposal): void {
    this.#open.delete(id);
  }

  /**
   * The writer's verdict on a proposal that was made. `unavailable` if there is none within WRITE_MS: the proposal may
   * take place later.
   */
  async verdictOn({ id, verdict }: OpenProposal): Promise<Verdict> {
    const deadline = this.#deadlines.set(() =>
      this.settle([{ id, is: 'unavailable', message: 'the writer has not answered in time' }]),
    );
    try {
      return await verdict;
    } finally {
      this.#deadlines.clear(deadline);
    }
  }

  /** Takes verdicts of the writer. */
  settle(verdicts: readonly Verdict[]): void {
    for (const verdict of verdicts) this.#open.get(verdict.id)?.(verdict);
  }

  /** Ends all open proposals as `unavailable`: the writer may have carried them out, or not. */
  writerEnded(): void {
    this.#hasWriterEnded = true;
    for (const [id, settle] of this.#open) settle({ id, is: 'unavailable', message: 'the writer has ended' });
  }
}
