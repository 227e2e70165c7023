import type { Service } from '../../../../core/api/plugin/pluginService.js';
import { TokenBucket } from '../../../../core/runtime/tokenBucket.js';
import type { EventLimit } from './config.js';

/** The name of the service that counts the events. */
export const EVENT_LIMITER_SERVICE = 'admission/event-rate-limit';

/** Counts the events of one limit by key. */
class Buckets {
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(
    readonly limit: EventLimit,
    readonly now: () => number,
  ) {}

  take(key: string): boolean {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.limit.perSecond, this.limit.burst, this.now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.limit.keys) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket.take();
  }
}

/**
 * Counts the events of all threads of the pool. It is asked with the keys of an event, one for each limit, and answers
 * with the positions of the limits that the event exceeds; the other limits have counted it.
 */
export class EventLimiter implements Service {
  readonly name = EVENT_LIMITER_SERVICE;
  readonly #limits: readonly Buckets[];

  constructor(limits: readonly EventLimit[], now: () => number) {
    this.#limits = limits.map(limit => new Buckets(limit, now));
  }

  start(): void {
    // The service has no state that others read.
  }

  ask(keys: unknown): readonly number[] {
    return this.#limits.flatMap((limit, i) => (limit.take((keys as readonly string[])[i]!) ? [] : [i]));
  }
}
