import {
  IDENTITY_ANSWER_BYTES,
  IDENTITY_BODY_BYTES,
  IDENTITY_REQUESTS,
  IDENTITY_WATCHES,
  UNKNOWN_ANSWER_BYTES,
  UNKNOWN_BODY_BYTES,
  UNKNOWN_REQUESTS,
  UNKNOWN_WATCHES,
} from '../../../core/limits.js';
import { ANONYMOUS } from '../../../core/model/user.js';
import { RecentMap } from '../access/recentMap.js';
import { tooBusy } from '../answers/refusals.js';

/** How much of the server a user may use at once. */
export interface UsageLimits {
  /** Bytes of bodies that have arrived, of requests in flight. */
  readonly bodyBytes: number;
  /** Requests that wait for the pool or the writer. */
  readonly requests: number;
  readonly watches: number;
  /** Bytes that answers to reads hold. */
  readonly answerBytes: number;
}

const OF_USER: UsageLimits = {
  bodyBytes: IDENTITY_BODY_BYTES,
  requests: IDENTITY_REQUESTS,
  watches: IDENTITY_WATCHES,
  answerBytes: IDENTITY_ANSWER_BYTES,
};
const OF_UNKNOWN: UsageLimits = {
  bodyBytes: UNKNOWN_BODY_BYTES,
  requests: UNKNOWN_REQUESTS,
  watches: UNKNOWN_WATCHES,
  answerBytes: UNKNOWN_ANSWER_BYTES,
};

/**
 * How much of the server is used now by one user, or by all senders together that are anonymous or not authenticated.
 */
export class Usage {
  readonly #used: Record<keyof UsageLimits, number> = { bodyBytes: 0, requests: 0, watches: 0, answerBytes: 0 };

  constructor(
    readonly limits: UsageLimits,
    /** Name of the user; '' for all senders without one together. */
    readonly user = '',
  ) {}

  /** Counts `amount` more of a bounded quantity. Throws Refusal 429, and counts nothing, above the bound. */
  add(what: keyof UsageLimits, amount = 1): void {
    if (this.#used[what] + amount > this.limits[what]) throw tooBusy();
    this.#used[what] += amount;
  }

  /** Undoes an `add`. */
  remove(what: keyof UsageLimits, amount = 1): void {
    this.#used[what] -= amount;
  }

  /** How much is used now. */
  used(what: keyof UsageLimits): number {
    return this.#used[what];
  }
}

/** Controllers are part of the server, and bound their own work. */
const OF_CONTROLLERS: UsageLimits = {
  bodyBytes: Number.POSITIVE_INFINITY,
  requests: Number.POSITIVE_INFINITY,
  watches: Number.POSITIVE_INFINITY,
  answerBytes: Number.POSITIVE_INFINITY,
};

/**
 * Number of users whose usage is remembered. A dropped user begins again at zero. The user whose last request is the
 * oldest, who uses little, is dropped first.
 */
const REMEMBERED_USERS = 100_000;

/** The usage of every user, by name: a user with several tokens has one share of the server. */
export class Usages {
  /** The usage of all senders together that are anonymous or not authenticated yet. */
  readonly unknown = new Usage(OF_UNKNOWN);
  readonly controllers = new Usage(OF_CONTROLLERS);
  readonly #byUser = new RecentMap<Usage>(2 * REMEMBERED_USERS, () => 1);

  /** The usage of a user; that of unknown senders for the anonymous user, and without a name. */
  of(name: string): Usage {
    if (name === ANONYMOUS.name || name === '') return this.unknown;
    const known = this.#byUser.get(name);
    if (known) return known;
    const usage = new Usage(OF_USER, name);
    this.#byUser.set(name, usage);
    return usage;
  }
}
