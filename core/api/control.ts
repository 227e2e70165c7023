import { LIST, requireMembers } from './checks/parts.js';
import { type Awaitable, ConfigError, type Contributed, definePoint } from './point.js';

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
  /**
   * Names of controllers after which this one starts on a new store, so that the objects that clients wait for are
   * written first. Names of controllers that are configured later, or do not run, are ignored.
   */
  readonly startsAfter?: readonly string[];
  /** Starts the controller. Resolves after its first pass over the initial state. */
  start(): Awaitable<void>;
}

/**
 * The creation of objects that every server has, such as default roles, by controllers when they start. Until they have
 * started, the check `poststarthook/<name>` of the health endpoints fails, a server with a new store does not listen,
 * and requests of controllers with a role of their own (`--use-service-account-credentials`) wait.
 *
 * @example
 * const defaults: PostStartHook = { name: 'shop/default-prices', controllers: ['prices'] };
 */
export interface PostStartHook {
  readonly name: string;
  /** Names of controllers. The server ends with an error if one of them does not run. */
  readonly controllers: readonly string[];
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

/**
 * Limits the time of checks: one that does not answer in time has failed. A check that throws reports something
 * unhealthy, which is not a failure of the plugin.
 */
function boundedChecks(inputs: readonly Contributed<HealthCheck>[]): readonly HealthCheck[] {
  return inputs.map(({ value, call }) => ({
    name: value.name,
    of: value.of,
    check: () =>
      call(
        () => value.check(),
        () => true,
        { check: value.name },
      ),
  }));
}

const areNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every(name => typeof name === 'string' && name !== '');

/** Segments of the path of a health endpoint. */
const HOOK_NAME = /^[a-zA-Z0-9._/-]+$/;

/** A hook with the name of its plugin. */
type NamedHook = PostStartHook & { readonly plugin: string };

/** The hooks, those of the server first. Throws ConfigError for two with one name. */
function withOwnNames(inputs: readonly Contributed<PostStartHook>[]): readonly NamedHook[] {
  const byName = new Map<string, string>();
  const ordered = [...inputs.filter(({ isBuiltIn }) => isBuiltIn), ...inputs.filter(({ isBuiltIn }) => !isBuiltIn)];
  return ordered.map(({ plugin, value }) => {
    const other = byName.get(value.name);
    if (other !== undefined)
      throw new ConfigError(
        `plugins: ${plugin}`,
        `the plugin ${other} has the post-start hook ${value.name} already: use another name`,
      );
    byName.set(value.name, plugin);
    return { plugin, name: value.name, controllers: [...value.controllers] };
  });
}

/**
 * Makes a controller's failure to start a failure of its plugin: `start` throws PluginFailure. It has no time limit.
 */
const namedControllers = (inputs: readonly Contributed<Controller>[]): readonly Controller[] =>
  inputs.map(({ value, call }) => ({
    name: value.name,
    startsAfter: value.startsAfter ?? [],
    async start() {
      try {
        await value.start();
      } catch (thrown) {
        const rethrow = (): never => {
          throw thrown;
        };
        await call(rethrow, () => false, { controller: value.name });
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
  requireMembers({
    name: 'string',
    start: 'function',
    startsAfter: [value => value === undefined || areNames(value), 'a list of names of controllers'],
  }),
);
/**
 * Work of controllers without which a server is not complete. All of it must be done.
 *
 * @example
 * contribute: () => [
 *   controller.of(host => new Prices(host)),
 *   postStartHook.of(() => ({ name: 'shop/default-prices', controllers: ['prices'] })),
 * ],
 */
export const postStartHook = definePoint<PostStartHook>()(
  'postStartHook',
  ['front', 'control'],
  withOwnNames,
  requireMembers({
    name: [value => typeof value === 'string' && HOOK_NAME.test(value), 'a name of letters, digits, ., _, / and -'],
    controllers: [value => areNames(value) && (value as []).length > 0, 'a list of names of controllers'],
  }),
);
/**
 * Health checks. All of them are evaluated.
 *
 * @example
 * contribute: () => [healthCheck.of(() => ({ name: 'disk', of: ['livez'], check: checkDisk }))],
 */
export const healthCheck = definePoint<HealthCheck>()(
  'healthCheck',
  ['front'],
  boundedChecks,
  requireMembers({ name: 'string', of: LIST, check: 'function' }),
);
