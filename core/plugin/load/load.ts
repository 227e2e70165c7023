import type { Host, Thread } from '../../api/host.js';
import type { Combined, Contributed, Contribution, Plugin, Point } from '../../api/point.js';
import { PLUGIN_CALL_MS, PLUGIN_START_MS } from '../../limits.js';
import { atFlag } from '../../settings/atFlag.js';
import type { PluginSpec, ThreadData } from '../../threads/data.js';
import { Inspection } from '../../threads/inspection.js';
import { CallCounters, cellOf } from '../calls/callCounters.js';
import { callerOf, type CallTarget } from '../calls/calls.js';
import { DeadlineExceeded, withinDeadline } from '../calls/deadline.js';
import { pluginError } from './errors.js';
import { type HostServices, hostOf, type PluginSet } from '../host.js';
import { logOf } from '../log.js';
import { importPlugin } from './module.js';
import type { RunningCalls } from '../calls/runningCalls.js';

/** The contributions of the plugins of one thread, by extension point. */
export interface Plugins {
  /** The combined contributions to this point. */
  at<Out>(point: Combined<Out>): Out;
  /** The contributions of the plugins of the configuration to this point. */
  configured<In>(point: Point<Thread, In, unknown>): readonly Contributed<In>[];
}

/** A plugin that runs in this thread. */
interface Loaded {
  readonly plugin: Plugin;
  readonly spec: PluginSpec;
  /** Its index among all plugins of the server. */
  readonly place: number;
}

/** Collects the contributions of the plugins of a thread. */
class Contributions implements PluginSet {
  isComplete = false;
  readonly #made = new Map<string, Contributed<unknown>[]>();
  readonly #combined = new Map<string, unknown>();

  add(point: string, value: Contributed<unknown>): void {
    const values = this.#made.get(point);
    if (values) values.push(value);
    else this.#made.set(point, [value]);
  }

  at<Out>(point: Combined<Out>): Out {
    if (!this.#combined.has(point.name))
      this.#combined.set(point.name, point.combine((this.#made.get(point.name) ?? []) as never));
    return this.#combined.get(point.name) as Out;
  }

  configured<In>({ name }: Point<Thread, In, unknown>): readonly Contributed<In>[] {
    const made = (this.#made.get(name) ?? []) as readonly Contributed<In>[];
    return made.filter(({ isBuiltIn }) => !isBuiltIn);
  }
}

async function importAll(
  { plugins }: ThreadData,
  thread: Thread,
  selects: HostServices['selects'] = () => true,
): Promise<Loaded[]> {
  const placed = plugins.map((spec, place) => ({ spec, place }));
  const wanted = placed.filter(({ spec }) => (spec.threads?.includes(thread) ?? true) && selects(spec));
  return await Promise.all(
    wanted.map(async one => ({ ...one, plugin: await importPlugin(one.spec.use, one.spec.path, one.spec.version) })),
  );
}

/** Creates the value of a contribution. Adds the name of the plugin to an error that it throws. */
async function createValue(
  contribution: Contribution,
  { plugin, spec }: Loaded,
  host: Host,
  isSuspended: CallTarget['isUnlimited'],
): Promise<unknown> {
  try {
    return await withinDeadline(contribution.make(host), PLUGIN_START_MS, { keepAlive: true, isSuspended });
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw pluginError(error, plugin.name, spec.path, contribution.point);
    const seconds = PLUGIN_START_MS / 1000;
    throw new Error(`plugin ${plugin.name} (${contribution.point}): it was not made within ${seconds} s`);
  }
}

/** The settings of a plugin. Throws its ConfigError, with the place of the configuration. */
function parseConfig({ plugin, spec: { config, configPlace } }: Loaded): unknown {
  return configPlace === undefined ? plugin.parse(config) : atFlag(configPlace, () => plugin.parse(config));
}

/** The target with which the calls and listeners of a plugin at a point are limited, counted and logged. */
function targetOf(
  point: string,
  { plugin, spec, place }: Loaded,
  data: ThreadData,
  running?: RunningCalls,
): CallTarget {
  const inspection = new Inspection(data.inspection);
  return {
    plugin: plugin.name,
    point,
    timeout: spec.timeout ?? PLUGIN_CALL_MS,
    isUnlimited: () => inspection.isOpen,
    log: logOf(plugin.name, data),
    counters: new CallCounters(data.calls).of(place, point),
    ...(running && { running: { calls: running, cell: cellOf(place, point) } }),
  };
}

/**
 * Loads the plugins that run in `thread` and creates their contributions, in the order of the configuration. Throws
 * ConfigError, or the error of a plugin with the name of the plugin; everything that was created before is then
 * released.
 */
export async function loadPlugins(data: ThreadData, thread: Thread, services: HostServices): Promise<Plugins> {
  const contributions = new Contributions();
  const host = hostOf(data, thread, services, contributions);
  const { kept } = services;
  const isMade = (point: string): boolean => kept !== undefined && !kept.closers && kept.points.includes(point);
  try {
    for (const loaded of await importAll(data, thread, services.selects))
      for (const one of loaded.plugin.contribute(parseConfig(loaded))) {
        if (!one.threads.includes(thread) || isMade(one.point)) continue;
        const target = targetOf(one.point, loaded, data, services.running);
        const isBuiltIn = loaded.spec.path === undefined;
        const value = await createValue(one, loaded, host({ ...target, isBuiltIn }), target.isUnlimited);
        const { failurePolicy = 'Fail' } = loaded.spec;
        contributions.add(one.point, {
          plugin: target.plugin,
          value,
          failurePolicy,
          isBuiltIn,
          call: callerOf(target),
        });
      }
  } catch (error) {
    await services.closers.closeAll(logOf(thread, data));
    throw error;
  }
  contributions.isComplete = true;
  // A member that a plugin added would be in every object of the thread. The main thread does not belong to the server
  // alone.
  if (thread !== 'front') Object.preventExtensions(Object.prototype);
  return contributions;
}
