import { LONG_JOB_MS, MOST_SLOWED_MS, SLOWED_MS } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';

/** Short jobs in a row after which a user is no longer a suspect: at first, and at most. */
const LEAST_DOUBT = 8;
const MOST_DOUBT = 256;
/** Number of times that jobs of a user may be stuck before the user is slowed down. */
const STRIKES = 2;
/** Number of users that are remembered. Above it, users that are not slowed down are forgotten. */
const USERS = 1000;

/** A user whose jobs have kept a thread. */
interface Suspect {
  /** Jobs that keep their threads now. */
  running: number;
  /** Short jobs in a row after which its jobs are run with those of others again. */
  doubt: number;
  /** The value of `doubt` after another such job. */
  nextDoubt: number;
  /** Jobs that were stuck. */
  strikes: number;
  /** Time until which these counts are kept, in milliseconds of `monotonicTime`. */
  until: number;
  /** Time until which further jobs are refused, in milliseconds of `monotonicTime`. */
  slowedUntil: number;
}

/**
 * The users whose jobs keep threads of the pool. The other jobs of such a user run alone and one at a time, until some
 * in a row were short. After two jobs that were stuck, further ones are refused for a time.
 */
export class Suspects {
  readonly #users = new Map<string, Suspect>();

  constructor(readonly now: () => number) {}

  /** Whether the jobs of a user are run apart from those of others. Senders without a name are not told apart. */
  has(user: string): boolean {
    if (this.#users.size === 0) return false;
    const suspect = this.#users.get(user);
    return suspect !== undefined && (suspect.running > 0 || (suspect.doubt > 0 && suspect.until > this.now()));
  }

  /** The owner of the turns that the jobs of a user take: a suspect, or all other users together. */
  ownerOf(user: string): object {
    return this.#users.get(user) ?? this.#users;
  }

  /** Throws Refusal 429 for a user that is slowed down. */
  check(user: string): void {
    if (this.#users.size === 0) return;
    const left = (this.#users.get(user)?.slowedUntil ?? 0) - this.now();
    if (left <= 0) return;
    throw new Refusal('TooManyRequests', 'requests of this user do not end in time; please retry later', {
      retryAfterSeconds: Math.ceil(left / 1000),
    });
  }

  /** To be called when a job of a user keeps its thread. */
  begin(user: string): void {
    if (user === '') return;
    const suspect = this.#suspectOf(user);
    suspect.running++;
    suspect.doubt = suspect.nextDoubt;
    suspect.nextDoubt = Math.min(MOST_DOUBT, 2 * suspect.nextDoubt);
    suspect.until = this.now() + MOST_SLOWED_MS;
  }

  /** To be called when the job is stuck. */
  strike(user: string): void {
    const suspect = this.#users.get(user);
    if (!suspect) return;
    const now = this.now();
    const before = ++suspect.strikes - STRIKES;
    suspect.until = now + MOST_SLOWED_MS;
    if (before >= 0) suspect.slowedUntil = now + Math.min(MOST_SLOWED_MS, SLOWED_MS * 2 ** before);
  }

  /** To be called when the job has ended. */
  end(user: string): void {
    const suspect = this.#users.get(user);
    if (suspect) suspect.running--;
  }

  /** Takes the milliseconds for which a job that ran apart has kept its thread. */
  record(user: string, ms: number): void {
    const suspect = this.#users.get(user);
    if (suspect && suspect.doubt > 0 && ms < LONG_JOB_MS) suspect.doubt--;
  }

  /** The record of a user; a new one if the previous one has expired. */
  #suspectOf(user: string): Suspect {
    const now = this.now();
    const known = this.#users.get(user);
    if (known && (known.running > 0 || known.until > now)) return known;
    if (this.#users.size >= USERS) this.#forget(now);
    const suspect = { running: 0, doubt: 0, nextDoubt: LEAST_DOUBT, strikes: 0, until: 0, slowedUntil: 0 };
    this.#users.set(user, suspect);
    return suspect;
  }

  #forget(now: number): void {
    for (const [user, { running, until }] of this.#users) if (running === 0 && until <= now) this.#users.delete(user);
  }
}
