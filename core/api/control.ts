import { LIST, requireMembers } from './checks/parts.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

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
  /** Starts the controller. Resolves after its first pass over the initial state. */
  start(): Awaitable<void>;
}

/**
 * A health check.
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
  /** The endpoints that include the check. */
  readonly of: readonly ('livez' | 'readyz' | 'healthz')[];
  /** Throws if something is unhealthy. The message is logged and not sent to clients. */
  check(): Awaitable<void>;
}

/** A throw reports something unhealthy and is not a failure of the plugin. A check that does not answer has failed. */
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

/** Controllers whose failure to start is one of the plugin: `start` then throws PluginFailure. It has no time limit. */
const namedControllers = (inputs: readonly Contributed<Controller>[]): readonly Controller[] =>
  inputs.map(({ value, call }) => ({
    name: value.name,
    async start() {
      try {
        await value.start();
      } catch (thrown) {
        const rethrow = (): never => {
          throw thrown;
        };
        await call(rethrow, () => false);
      }
    },
  }));

/**
 * Controllers. All of them run.
 *
 * @example
 * contribute: () => [controller.of(host => ({ name: 'counter', start: () => host.watch(count) }))],
 */
export const controller = definePoint<Controller>()(
  'controller',
  ['control'],
  namedControllers,
  requireMembers({ name: 'string', start: 'function' }),
);
/**
 * Health checks. All of them are evaluated.
 *
 * @example
 * contribute: () => [healthCheck.of(() => ({ name: 'disk', of: ['livez'], check: checkDisk }))],
 */
export const healthCheck = definePoint<HealthCheck>()(
  'health',
  ['front'],
  boundedChecks,
  requireMembers({ name: 'string', of: LIST, check: 'function' }),
);
