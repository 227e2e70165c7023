import type { MessagePort } from 'node:worker_threads';
import { nextTurn } from '../../../core/runtime/timers.js';
import { requestTimeout } from '../answers/refusals.js';
import { Refusal } from '../../../core/model/refusal.js';
import type { FromWriter, HistoryRequest, RangeRequest } from '../../../core/threads/messages/messages.js';
import { InFlight } from '../../../core/threads/inFlight.js';

type Answer = Extract<FromWriter, { requestId: number }>;

/** The text upstream gives for a version whose history is gone. */
const EXPIRED = 'The resourceVersion for the provided list is too old.';

/** Requests of the front end to the writer: reads of the past, and whether the store works. */
export class WriterClient {
  #port: MessagePort | undefined;
  readonly #inFlight = new InFlight<{
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: Error) => void;
  }>();

  /**
   * Uses this port from now on. Once the writer has ended, requests in flight and later ones are refused with 504.
   */
  attach(port: MessagePort): void {
    this.#port = port;
    port.once('close', () => {
      this.#port = undefined;
      for (const [requestId, { reject }] of this.#inFlight) {
        this.#inFlight.delete(requestId);
        reject(requestTimeout());
      }
    });
  }

  /** Takes the writer's answer to a request. */
  settle(answer: Answer): void {
    const waiting = this.#inFlight.get(answer.requestId);
    this.#inFlight.delete(answer.requestId);
    if (answer.is !== 'failed') waiting?.resolve(answer);
    else if (answer.reason === 'unavailable') waiting?.reject(requestTimeout());
    else waiting?.reject(answer.reason === 'compacted' ? new Refusal('Expired', EXPIRED) : new Error(answer.message));
  }

  /** Objects at an old revision. Throws Refusal 410. */
  async range(request: Omit<RangeRequest, 'is' | 'requestId'>): Promise<Extract<FromWriter, { is: 'page' }>> {
    return (await this.#send({ is: 'range', ...request })) as Extract<FromWriter, { is: 'page' }>;
  }

  /** Past changes. Throws Refusal 410. */
  async past(request: Omit<HistoryRequest, 'is' | 'requestId'>): Promise<Extract<FromWriter, { is: 'past' }>> {
    return (await this.#send({ is: 'history', ...request })) as Extract<FromWriter, { is: 'past' }>;
  }

  /** Reads from the store itself; throws if that fails. */
  async check(): Promise<void> {
    const answer = (await this.#send({ is: 'check' })) as Extract<FromWriter, { is: 'checked' }>;
    if (answer.error) throw new Error(answer.error);
  }

  #sync: Promise<void> | undefined;
  /**
   * Resolves once the front end has seen every write acknowledged anywhere before the call. All calls of one turn
   * share a request; it is posted after the turn, so that it is younger than each of them. Throws Refusal 504.
   */
  sync(): Promise<void> {
    this.#sync ??= nextTurn().then(async () => {
      this.#sync = undefined;
      await this.#send({ is: 'sync' });
    });
    return this.#sync;
  }

  #send(request: object): Promise<Answer> {
    const port = this.#port;
    if (!port) return Promise.reject(requestTimeout());
    return new Promise((resolve, reject) => {
      const requestId = this.#inFlight.add({ resolve, reject });
      port.postMessage({ ...request, requestId });
    });
  }
}
