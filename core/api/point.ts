import type { Host, Thread } from './host.js';

/** A value or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** A contribution with the name of the plugin it came from. */
export interface Contributed<In> {
  readonly plugin: string;
  readonly value: In;
}

/** One plugin's part at one point; made once per thread that runs the point. */
export interface Contribution {
  readonly point: string;
  readonly threads: readonly Thread[];
  readonly make: (host: Host) => Awaitable<unknown>;
}

/** An extension point: where its values live, and how many become one. Anyone may define one. */
export interface Point<In, Out> {
  readonly name: string;
  readonly threads: readonly Thread[];
  /**
   * Called once per thread at start, with the contributions in the order of the configuration; [] gives the default.
   */
  readonly combine: (inputs: readonly Contributed<In>[]) => Out;
  of(make: (host: Host) => Awaitable<In>): Contribution;
}

/** Defines an extension point; its name must be unique within a server. */
export function definePoint<In, Out>(
  name: string,
  threads: readonly Thread[],
  combine: Point<In, Out>['combine'],
): Point<In, Out> {
  return Object.freeze({
    name,
    threads,
    combine,
    of: (make: (host: Host) => Awaitable<In>): Contribution => ({ point: name, threads, make }),
  });
}

/** A point's combination where every value counts: all of them, in the order of the configuration. */
export const allValues = <T>(inputs: readonly Contributed<T>[]): readonly T[] => inputs.map(input => input.value);

/** Named in the configuration as { use: module, config: JSON }, so that every thread can build its own copy. */
export interface Plugin<Config = unknown> {
  readonly name: string;
  /** Names of plugins that must be there too; a missing one fails the start with both names. */
  readonly requires?: readonly string[];
  /** Pure; throws ConfigError with the path of the bad field. */
  parse(config: unknown): Config;
  /** Pure and cheap; runs in every thread. */
  contribute(config: Config): readonly Contribution[];
}

/** A bad configuration: `path` names the field, the message the fix. Ends the start with exit code 2. */
export class ConfigError extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(`${path}: ${message}`);
  }
}

/** Identity function that checks a plugin's shape where it is written. */
export const definePlugin = <Config>(plugin: Plugin<Config>): Plugin<Config> => plugin;
