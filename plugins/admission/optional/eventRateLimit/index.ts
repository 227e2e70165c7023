import type { Event } from '../../../../kinds/v1.js';
import { type Change, validator, type Validator } from '../../../../core/api/admission.js';
import type { Host } from '../../../../core/api/host.js';
import { definePlugin } from '../../../../core/api/plugin.js';
import { service } from '../../../../core/api/plugin/pluginService.js';
import type { Plugin } from '../../../../core/api/point.js';
import type { Frozen } from '../../../../core/model/object.js';
import { Refusal } from '../../../../core/model/refusal.js';
import { monotonicTime } from '../../../../core/runtime/clock.js';
import { type EventLimit, type LimitType, parseConfig } from './config.js';
import { EVENT_LIMITER_SERVICE, EventLimiter } from './limiter.js';

/** The group in which an event is counted, for each type of limit. */
const KEYS: Readonly<Record<LimitType, (change: Change, event: Frozen<Event>) => string>> = {
  Server: () => '',
  Namespace: ({ target }) => target.namespace,
  User: ({ user }) => user.name,
  SourceAndObject(_, { source, involvedObject: { kind, namespace, name, uid, apiVersion } }) {
    const parts = [source?.component, source?.host, kind, namespace, name, uid, apiVersion];
    return parts.map(part => part ?? '').join('');
  },
};

/** 429 in upstream's words, with the limits that an event exceeds. */
function tooManyError(exceeded: readonly string[]): Refusal {
  const shown = exceeded.length === 1 ? exceeded[0]! : `[${exceeded.join(', ')}]`;
  return new Refusal('TooManyRequests', `Too many requests: ${shown}`);
}

const limitEvents =
  (limits: readonly EventLimit[]) =>
  (host: Pick<Host<'pool'>, 'service'>): Validator => {
    const limiter = host.service(EVENT_LIMITER_SERVICE);
    return {
      // Upstream limits only events in the core form.
      on: { groups: [''], resources: ['events'], operations: ['CREATE', 'UPDATE'] },
      async validate(change, object) {
        if (change.dryRun) return [];
        const keys = limits.map(({ type }) => KEYS[type](change, object as Frozen<Event>));
        const exceeded = (await limiter.ask(keys)) as readonly number[];
        if (exceeded.length > 0)
          throw tooManyError(exceeded.map(i => `limit reached on type ${limits[i]!.type} for key ${keys[i]}`));
        return [];
      },
    };
  };

/** Limits the events per second: in total, of a namespace, of a user, or about an object. */
export default definePlugin<readonly EventLimit[]>({
  name: 'event-rate-limit',
  parse: parseConfig,
  contribute: limits => [service.of(() => new EventLimiter(limits, monotonicTime)), validator.of(limitEvents(limits))],
}) satisfies Plugin<readonly EventLimit[]>;
