import type { Exchange } from '../../../core/api/listener.js';
import { BODIES_BYTES, BODY_BYTES, BODY_MS, UNKNOWN_BODY_PART_BYTES } from '../../../core/limits.js';
import { WholeBody } from '../../../core/request/wholeBody.js';
import { Deadlines } from './deadlines.js';
import { requestTimeout } from '../answers/refusals.js';
import { Usage } from './usage.js';

/**
 * Counts the bytes of the bodies of requests in flight: in total, and for each sender. A byte counts once it has
 * arrived; the announced length does not count. Until the sender is authenticated, its bytes count for all unknown
 * senders together, so that these cannot use up the share of known ones.
 */
export class Bodies {
  readonly #total = new Usage({ bodyBytes: BODIES_BYTES, requests: 0, watches: 0, answerBytes: 0 });
  readonly #deadlines = new Deadlines(BODY_MS);

  /**
   * Begins to read the body of an exchange. To be called before the exchange's handler returns. With `isHeld`, only its
   * first part is read until it is accepted. Above `limit` bytes, it is refused.
   */
  read(exchange: Exchange, usage: Usage, isHeld: boolean, limit = BODY_BYTES): IncomingBody {
    const body = new IncomingBody(this.#deadlines, this.#total, usage, isHeld, limit);
    exchange.body(body);
    return body;
  }
}

/**
 * The body of one request. Its bytes count until it is released. `bytes` also rejects with Refusal 429 over a bound of
 * all bodies, with 504 if it is not complete in time, and with an Error if the client goes away.
 */
class IncomingBody extends WholeBody {
  readonly #deadlines: Deadlines;
  readonly #total: Usage;
  readonly #deadline: number;
  #usage: Usage;
  #counted = 0;
  #isHeld: boolean;
  /** Lets the rest of the body be read, if it waits to be accepted. */
  #readRest: () => void = () => undefined;

  constructor(deadlines: Deadlines, total: Usage, usage: Usage, isHeld: boolean, limit: number) {
    super(limit);
    this.#deadlines = deadlines;
    this.#total = total;
    this.#usage = usage;
    this.#isHeld = isHeld;
    this.#deadline = deadlines.set(() => this.abort(requestTimeout()));
    // The promise may reject before anything awaits it: before the sender is authenticated, or after the request was
    // refused.
    this.bytes.catch(() => undefined);
  }

  override write(part: Uint8Array): void | Promise<void> {
    super.write(part);
    this.#count(part.length);
    if (this.#isHeld && this.size >= UNKNOWN_BODY_PART_BYTES) return new Promise(resolve => (this.#readRest = resolve));
  }

  /**
   * Reads the rest, and counts the body for its sender, who is authenticated now. Throws Refusal 429 over the sender's
   * bound.
   */
  accept(usage: Usage): void {
    this.#isHeld = false;
    this.#readRest();
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
