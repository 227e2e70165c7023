import type { Exchange } from '../../../core/api/listener.js';
import { BODIES_BYTES, BODY_BYTES, BODY_MS } from '../../../core/limits.js';
import { Deadlines } from './deadlines.js';
import { requestTimeout } from '../answers/refusals.js';
import { Usage } from './usage.js';

/**
 * The bodies of requests in flight. A byte counts once it has arrived. The announced length does not count: in total,
 * and for the sender. Until the sender is authenticated, it counts for all unknown senders together, so that they
 * cannot use up the share of known ones.
 */
export class Bodies {
  readonly #total = new Usage({ bodyBytes: BODIES_BYTES, requests: 0, watches: 0, answerBytes: 0 });
  readonly #deadlines = new Deadlines(BODY_MS);

  /** Begins to read the body of an exchange. To be called before the exchange's handler returns. */
  read(exchange: Exchange, usage: Usage): IncomingBody {
    return new IncomingBody(exchange, this.#deadlines, this.#total, usage);
  }
}

/** The body of one request. Its bytes count until it is released. */
class IncomingBody {
  /**
   * The whole body. Rejects with Refusal 413 over the bound of one body, 429 over a bound of all bodies, 504 if it is
   * not complete in time, and with an Error if the client goes away.
   */
  readonly bytes: Promise<Uint8Array>;
  readonly #deadlines: Deadlines;
  readonly #total: Usage;
  #usage: Usage;
  #counted = 0;
  #deadline!: number;

  constructor(exchange: Exchange, deadlines: Deadlines, total: Usage, usage: Usage) {
    this.#deadlines = deadlines;
    this.#total = total;
    this.#usage = usage;
    this.bytes = new Promise((resolve, reject) => {
      exchange.body(BODY_BYTES, bytes => this.#count(bytes)).then(resolve, reject);
      this.#deadline = deadlines.set(() => reject(requestTimeout()));
    });
    // It may reject before anything awaits it: before the sender is authenticated, or after the request was refused.
    this.bytes.catch(() => undefined);
  }

  /** Counts the body for its sender, who is authenticated now. Throws Refusal 429 over the sender's bound. */
  chargeTo(usage: Usage): void {
    if (usage === this.#usage) return;
    usage.add('bodyBytes', this.#counted);
    this.#usage.remove('bodyBytes', this.#counted);
    this.#usage = usage;
  }

  /** Stops counting the body. To be called when the request is answered. */
  release(): void {
    this.#deadlines.clear(this.#deadline);
    this.#usage.remove('bodyBytes', this.#counted);
    this.#total.remove('bodyBytes', this.#counted);
    this.#counted = 0;
  }

  #count(bytes: number): void {
    this.#usage.add('bodyBytes', bytes);
    try {
      this.#total.add('bodyBytes', bytes);
    } catch (error) {
      this.#usage.remove('bodyBytes', bytes);
      throw error;
    }
    this.#counted += bytes;
  }
}
