import { allValues, type Awaitable, type Contributed, definePoint } from './point.js';

/**
 * A reconciling loop of the control thread.
 *
 * @example
 * const counter: Controller = {
 *   name: 'counter',
 *   start: () => host.watch(event => host.log.info({ name: event.name }, event.type)),
 * };
 */
export interface Controller {
  readonly name: string;
  /** Begins work; resolves once its first pass over the initial state is done. */
  start(): Awaitable<void>;
}

/**
 * One health check.
 *
 * @example
 * const disk: HealthCheck = {
 *   name: 'disk',
 *   of: ['livez', 'readyz'],
 *   check: async () => {
 *     if ((await freeBytes()) < 1e9) throw new Error('less than 1 GB is free');
 *   },
 * };
 */
export interface HealthCheck {
  readonly name: string;
  /** Endpoints that include it. */
  readonly of: readonly ('livez' | 'readyz' | 'healthz')[];
  /** Throws when unhealthy; clients do not see the message, the log does. */
  check(): Awaitable<void>;
}

/** A throw tells that something is unhealthy: it is no failure of the plugin. A check that does not answer is. */
function boundedChecks(inputs: readonly Contributed<HealthCheck>[]): readonly HealthCheck[] {
  return inputs.map(({ value, call }) => ({
    name: value.name,
    of: value.of,
    check: () =>
      call(
        () => value.check(),
        () => true,
      ),
  }));
}

/**
 * Controllers: all of them run.
 *
 * @example
 * contribute: () => [controller.of(host => ({ name: 'counter', start: () => host.watch(count) }))],
 */
export const controller = definePoint<Controller>()('controller', ['control'], allValues);
/**
 * Health checks: all of them count.
 *
 * @example
 * contribute: () => [healthCheck.of(() => ({ name: 'disk', of: ['livez'], check: checkDisk }))],
 */
export const healthCheck = definePoint<HealthCheck>()('health', ['front'], boundedChecks);
