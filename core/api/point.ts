import { recognizeCopies } from '../model/copies.js';
import { Refusal } from '../model/refusal.js';
import type { Host, Thread } from './host.js';
import { API_VERSION } from './version.js';

/**
 * A value or a promise of it: what a plugin need not wait for costs no turn of the event loop.
 *
 * @example
 * const cached = (name: string): Awaitable<User> => known.get(name) ?? fetchUser(name);
 */
export type Awaitable<T> = T | Promise<T>;

/**
 * What the failure of a mutator or validator does to the request: refuse it with 500, or go on without the plugin.
 *
 * @example
 * { use: './labels.js', failurePolicy: 'Ignore' } // in the configuration
 */
export type FailurePolicy = 'Fail' | 'Ignore';

/**
 * A contribution as a point combines it, with the plugin it came from.
 *
 * @example
 * const first = (inputs: readonly Contributed<Greeter>[]) => inputs[0]?.value;
 */
export interface Contributed<In> {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly value: In;
  readonly failurePolicy: FailurePolicy;
  /**
   * Runs a call of `value`. What it returns synchronously is returned; a promise is waited for within the plugin's time
   * budget. What its contract lets it throw is thrown on: `mayThrow` says so of it (absent: any Refusal). Anything else
   * that it throws, and a promise that takes too long, is logged and counted, and thrown as PluginFailure.
   *
   * @example
   * const violations = await input.call(() => input.value.validate(change, object));
   */
  readonly call: <T>(operation: () => Awaitable<T>, mayThrow?: (thrown: unknown) => boolean) => Awaitable<T>;
}

/**
 * A plugin's call threw what is no refusal, returned what its contract does not know, or took too long. To a client it
 * is 500 with the name of the plugin; the cause is in the log.
 *
 * @example
 * if (thrown instanceof PluginFailure && input.failurePolicy === 'Ignore') continue;
 */
export class PluginFailure extends Refusal {
  constructor(
    readonly plugin: string,
    readonly point: string,
    why: string,
  ) {
    super('InternalError', `Internal error occurred: the plugin ${JSON.stringify(plugin)} ${why}`);
  }
}

/**
 * One plugin's part at one point; made once per thread that runs the point.
 *
 * @example
 * const contribution: Contribution = validator.of(host => ({ on: {}, validate: () => [] }));
 */
export interface Contribution {
  readonly point: string;
  readonly threads: readonly Thread[];
  /** Called with the host of one of these threads. A method, as hosts differ from thread to thread. */
  make(host: Host): Awaitable<unknown>;
}

/**
 * An extension point: in which threads its values live, and how they are combined into one. Plugins may define points.
 *
 * @example
 * const greeting: Point<'request', string, readonly string[]> =
 *   definePoint<string>()('greeting', ['request'], allValues);
 */
export interface Point<T extends Thread, In, Out> {
  readonly name: string;
  readonly threads: readonly T[];
  /**
   * Called once per thread at start, with the contributions in the order of the configuration; [] gives the default.
   */
  readonly combine: (inputs: readonly Contributed<In>[]) => Out;
  /** `make` gets the host of the point's threads: what these do not offer does not compile. */
  of(make: (host: Host<T>) => Awaitable<In>): Contribution;
}

/**
 * How a point's values are found: by its name, as it combines them.
 *
 * @example
 * const combinationOf = <Out>(host: Host, point: Combined<Out>): Out => host.at(point);
 */
export type Combined<Out> = { readonly name: string; readonly combine: (inputs: never) => Out };

/**
 * Defines an extension point for values of type In. Its name must be unique within a server. `host.at(point)` returns
 * what plugins contributed to it.
 *
 * @example
 * export const greeting = definePoint<string>()('greeting', ['request'], all =>
 *   all.map(({ value }) => value).join(),
 * );
 */
export const definePoint =
  <In>() =>
  <const T extends Thread, Out>(
    name: string,
    threads: readonly T[],
    combine: (inputs: readonly Contributed<In>[]) => Out,
  ): Point<T, In, Out> =>
    Object.freeze({
      name,
      threads,
      combine,
      of: (make: (host: Host<T>) => Awaitable<In>): Contribution => ({ point: name, threads, make }),
    });

/**
 * A point's combination where every value counts: all of them, in the order of the configuration.
 *
 * @example
 * export const greeting = definePoint<string>()('greeting', ['request'], allValues);
 */
export const allValues = <T>(inputs: readonly Contributed<T>[]): readonly T[] => inputs.map(input => input.value);

/**
 * Named in the configuration as { use: module, config: JSON }, so that every thread can build its own copy.
 *
 * @example
 * export default definePlugin({
 *   name: 'no-friday',
 *   parse: () => null,
 *   contribute: () => [validator.of(host => new NoFriday(host.now))],
 * }) satisfies Plugin<null>;
 */
export interface Plugin<Config = unknown> {
  /** Known to the log, the metrics, error messages and `requires`; different plugins have different names. */
  readonly name: string;
  /** Names of plugins that must be configured too, in any place; a missing one fails the start with both names. */
  readonly requires?: readonly string[];
  /**
   * Version of `capstan/api` that it needs, `major.minor`; `definePlugin` fills in its own. A server with another major
   * version, or an older minor version, does not start with it.
   */
  readonly apiVersion?: string;
  /** Pure; throws ConfigError with the path of the bad field. */
  parse(config: unknown): Config;
  /** Pure and cheap; runs in every thread. */
  contribute(config: Config): readonly Contribution[];
}

/**
 * A bad configuration: `path` names the field, the message the fix. Ends the start with exit code 2.
 *
 * @example
 * if (typeof level !== 'number') throw new ConfigError('level', 'must be a number from 1 to 9');
 */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(`${path}: ${message}`);
  }
}

recognizeCopies(ConfigError, 'ConfigError');

/**
 * Checks a plugin's shape where it is written, and adds the version of the interface that it is written with.
 *
 * @example
 * export default definePlugin({ name: 'nothing', parse: () => null, contribute: () => [] });
 */
export const definePlugin = <Config>(plugin: Plugin<Config>): Plugin<Config> => ({
  apiVersion: API_VERSION,
  ...plugin,
});
