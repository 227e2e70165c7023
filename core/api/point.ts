import { type Awaitable, after } from './awaitable.js';
import { recognizeCopies } from '../model/copies.js';
import { Refusal } from '../model/refusal.js';
import type { Combined, Host, Thread } from './host.js';

export type { Awaitable, Combined };

/**
 * What happens to a request if a call of a mutator or validator fails: it is refused with 500, or continues without the
 * plugin.
 *
 * @example
 * { use: './labels.js', failurePolicy: 'Ignore' } // in the configuration
 */
export type FailurePolicy = 'Fail' | 'Ignore';

/**
 * The value of a contribution, with the plugin that it came from.
 *
 * @example
 * const first = (inputs: readonly Contributed<Greeter>[]) => inputs[0]?.value;
 */
export interface Contributed<In> {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly value: In;
  readonly failurePolicy: FailurePolicy;
  /** Whether the plugin came with the server. */
  readonly isBuiltIn?: boolean;
  /**
   * Calls a function of `value`. A synchronous result is returned; a promise is awaited within the time limit of the
   * plugin. Errors that the contract of the function permits are rethrown: `mayThrow` returns true for them (default:
   * any Refusal). Any other error, and a promise that takes too long, is logged, counted, and thrown as PluginFailure.
   * `about` are further members of the record in the log, such as the name of the function.
   *
   * @example
   * const violations = await input.call(() => input.value.validate(change, object));
   */
  readonly call: <T>(
    operation: () => Awaitable<T>,
    mayThrow?: (thrown: unknown) => boolean,
    about?: { readonly [field: string]: string },
  ) => Awaitable<T>;
}

/**
 * A call of a plugin threw an error that is not a Refusal, returned an invalid result, or took too long. The client
 * gets 500 with the name of the plugin; the cause is in the log.
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
 * The contribution of a plugin to an extension point. Its value is created once per thread that runs the point.
 *
 * @example
 * const contribution: Contribution = validator.of(host => ({ on: {}, validate: () => [] }));
 */
export interface Contribution {
  readonly point: string;
  readonly threads: readonly Thread[];
  /**
   * Creates the value, with the host of one of these threads. Declared as a method because hosts differ between
   * threads.
   */
  make(host: Host): Awaitable<unknown>;
}

/**
 * An extension point: in which threads its values live, and how they are combined into one. Plugins may define points.
 *
 * @example
 * const greeting: Point<'pool', string, readonly string[]> =
 *   definePoint<string>()('greeting', ['pool'], allValues);
 */
export interface Point<T extends Thread, In, Out> {
  readonly name: string;
  readonly threads: readonly T[];
  /**
   * Called once per thread at the start, with the contributions in the order of the configuration; [] gives the
   * default.
   */
  readonly combine: (inputs: readonly Contributed<In>[]) => Out;
  /** `make` receives the host of the threads of the point. Members that these threads do not offer do not compile. */
  of(make: (host: Host<T>) => Awaitable<In>): Contribution;
}

/**
 * Defines an extension point for values of type In. Its name must be unique within a server. `host.at(point)` returns
 * the contributions of plugins to it. `check` throws if a plugin, which may be written in JavaScript, made something
 * else; the server then does not start and names the plugin.
 *
 * @example
 * export const greeting = definePoint<string>()('greeting', ['pool'], all =>
 *   all.map(({ value }) => value).join(),
 * );
 */
export const definePoint =
  <In>() =>
  <const T extends Thread, Out>(
    name: string,
    threads: readonly T[],
    combine: (inputs: readonly Contributed<In>[]) => Out,
    check: (value: In) => void = () => undefined,
  ): Point<T, In, Out> =>
    Object.freeze({
      name,
      threads,
      combine,
      of: (make: (host: Host<T>) => Awaitable<In>): Contribution => ({
        point: name,
        threads,
        make: (host: Host<T>) =>
          after(make(host), value => {
            check(value);
            return value;
          }),
      }),
    });

/**
 * The combination of a point that uses every value: all of them, in the order of the configuration.
 *
 * @example
 * export const greeting = definePoint<string>()('greeting', ['pool'], allValues);
 */
export const allValues = <T>(inputs: readonly Contributed<T>[]): readonly T[] => inputs.map(input => input.value);

/**
 * A plugin. The configuration names it as { use: module, config: JSON }, so that every thread can create its own
 * instance.
 *
 * @example
 * export default definePlugin({
 *   name: 'no-friday',
 *   parse: () => null,
 *   contribute: () => [validator.of(host => new NoFriday(host.now))],
 * }) satisfies Plugin<null>;
 */
export interface Plugin<Config = unknown> {
  /** The name in the log, in metrics, in error messages and in `requires`. Different plugins have different names. */
  readonly name: string;
  /**
   * Names of plugins that must also be configured, at any position. If one is missing, the start fails with both names.
   */
  readonly requires?: readonly string[];
  /**
   * The version of `capstan/api` that it needs, `major.minor`; `definePlugin` sets the current one. A server with
   * another major version, or an older minor version, does not start with the plugin.
   */
  readonly apiVersion?: string;
  /**
   * Validates the settings. Pure; throws ConfigError with the path of an invalid field. `definePlugin` accepts a
   * schema, `config`, instead.
   */
  parse(config: unknown): Config;
  /** Returns the contributions. Pure and cheap; runs in every thread. */
  contribute(config: Config): readonly Contribution[];
}

/**
 * Invalid configuration: `path` is the field, the message the fix. The start ends with exit code 2.
 *
 * @example
 * if (typeof level !== 'number') throw new ConfigError('level', 'must be a number from 1 to 9');
 */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
  constructor(
    readonly path: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${message}`, options);
  }
}

recognizeCopies(ConfigError, 'ConfigError');
