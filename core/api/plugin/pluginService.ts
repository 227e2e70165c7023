import { requireMembers } from '../checks/parts.js';
import { type Awaitable, type Contributed, definePoint } from '../point.js';

/**
 * A part of a plugin that runs once for the whole server, in the main thread, for the parts of the plugin in the pool:
 * it watches files, keeps the results of its requests, and makes decisions on which they must agree. States, questions
 * and answers are copied between threads, so they are data without functions.
 *
 * @example
 * const holidays: Service = {
 *   name: 'holidays',
 *   start: publish => void setInterval(async () => publish(await fetchHolidays()), 3_600_000).unref(),
 * };
 */
export interface Service {
  /** Unique within a server. The pool knows the service by it. */
  readonly name: string;
  /**
   * Called once, before the server answers requests. The server waits for it, so it must not wait for other servers.
   * `publish` sends a state to all threads of the pool, also to those that are created later, and replaces the one
   * before. It throws for a state that cannot be copied.
   */
  start(publish: (state: unknown) => void): Awaitable<void>;
  /** Answers a question of a part in the pool. A promise does not delay other threads and requests. */
  ask?(question: unknown): Awaitable<unknown>;
}

/** The services by name, whose calls are limited in time and counted. Throws TypeError for a name that is taken. */
function byName(inputs: readonly Contributed<Service>[]): ReadonlyMap<string, Service> {
  const services = new Map<string, Service>();
  for (const { value, call, plugin } of inputs) {
    if (services.has(value.name))
      throw new TypeError(`plugin ${plugin}: there already is a service ${JSON.stringify(value.name)}`);
    services.set(value.name, {
      name: value.name,
      start: publish => value.start(publish),
      ask: async question => {
        if (!value.ask) throw new Error(`the service ${value.name} answers no questions`);
        return await call(
          () => value.ask!(question),
          () => true,
        );
      },
    });
  }
  return services;
}

/**
 * Parts of plugins that run once for the whole server.
 *
 * @example
 * contribute: () => [service.of(() => holidays), authorizer.of(host => closedOn(host.service('holidays')))],
 */
export const service = definePoint<Service>()(
  'service',
  ['front'],
  byName,
  requireMembers({ name: 'string', start: 'function' }),
);
