import type { MessagePort } from 'node:worker_threads';
import { unavailable } from './unavailable.js';
import { Refusal } from '../../core/model/refusal.js';
import type { FromStore, HistoryAsked, RangeAsked } from '../../core/threads/messages.js';
import { Underway } from '../../core/threads/underway.js';

type Answer = Extract<FromStore, { ask: number }>;

/** The text upstream gives for a version whose history is gone. */
const EXPIRED = 'The resourceVersion for the provided list is too old.';

/** Questions of the front end to the writer: historic reads, and whether the store works. */
export class Questions {
  #port: MessagePort | undefined;
  readonly #open = new Underway<{
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: Error) => void;
  }>();

  /**
   * Asks by this port from now on. Once the writer has ended nobody answers: what is asked then, or was asked, is
   * refused with 504.
   */
  attach(port: MessagePort): void {
    this.#port = port;
    port.once('close', () => {
      this.#port = undefined;
      for (const [ask, { reject }] of this.#open) {
        this.#open.delete(ask);
        reject(unavailable());
      }
    });
  }

  answered(answer: Answer): void {
    const open = this.#open.get(answer.ask);
    this.#open.delete(answer.ask);
    if (answer.is !== 'failed') open?.resolve(answer);
    else if (answer.why === 'unavailable') open?.reject(unavailable());
    else open?.reject(answer.why === 'compacted' ? new Refusal('Expired', EXPIRED) : new Error(answer.message));
  }

  /** Objects at an old revision. Throws Refusal 410. */
  async range(question: Omit<RangeAsked, 'is' | 'ask'>): Promise<Extract<FromStore, { is: 'page' }>> {
    return (await this.#ask({ is: 'range', ...question })) as Extract<FromStore, { is: 'page' }>;
  }

  /** Past changes. Throws Refusal 410. */
  async past(question: Omit<HistoryAsked, 'is' | 'ask'>): Promise<Extract<FromStore, { is: 'past' }>> {
    return (await this.#ask({ is: 'history', ...question })) as Extract<FromStore, { is: 'past' }>;
  }

  /** Reads from the store itself; throws if that fails. */
  async check(): Promise<void> {
    const answer = (await this.#ask({ is: 'check' })) as Extract<FromStore, { is: 'checked' }>;
    if (answer.error) throw new Error(answer.error);
  }

  #sync: Promise<void> | undefined;
  /**
   * Resolves once the front end has seen every write acknowledged anywhere before the call. All who ask in one turn
   * share a question; it is posted after the turn, so that it is younger than each of them. Throws Refusal 504.
   */
  sync(): Promise<void> {
    this.#sync ??= new Promise(resolve => setImmediate(resolve)).then(async () => {
      this.#sync = undefined;
      await this.#ask({ is: 'sync' });
    });
    return this.#sync;
  }

  #ask(question: object): Promise<Answer> {
    const port = this.#port;
    if (!port) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const ask = this.#open.add({ resolve, reject });
      port.postMessage({ ...question, ask });
    });
  }
}
