import type { Log, Thread } from '../../core/api/host.js';
import type { Combined, Contributed, Point } from '../../core/api/point.js';
import { RunningCalls } from '../../core/plugin/calls/runningCalls.js';
import type { HostServices, KeptParts } from '../../core/plugin/host.js';
import { loadPlugins, type Plugins } from '../../core/plugin/load/load.js';
import { Closers } from '../../core/plugin/closers.js';
import type { ThreadData } from '../../core/threads/data.js';
import type { MainThread } from '../../core/threads/messages/lifecycle.js';
import type { ThreadScope } from '../../core/threads/thread.js';

/** The parts of the front end that plugins can use. */
type FrontServices = Omit<HostServices, 'closers' | 'kept'>;

/** Extension points whose parts a server keeps as long as it runs. */
export const KEPT_POINTS: readonly string[] = ['storage', 'listener', 'auditSink'];

/** The calls of plugins in progress in this thread, for the thread that watches it. */
type FrontCalls = Omit<MainThread, 'nativeId'>;

/** Plugins of this thread that were loaded together, and their resources. */
interface Generation {
  readonly plugins: Plugins;
  readonly calls: FrontCalls;
  readonly closers: Closers;
}

/** Plugins that were loaded to take the place of others. */
interface PreparedPlugins {
  readonly plugins: Plugins;
  /** Puts these plugins into use. Returns a function that releases the previous ones. */
  use(): () => Promise<void>;
  discard(): Promise<void>;
}

/**
 * The plugins of the front end. Others can replace them while it runs, except at the kept points: ask for the parts of
 * a point each time they are needed.
 */
export class FrontPlugins implements Plugins {
  #current: Generation;
  /** Plugins that were replaced, while requests continue to use them. */
  readonly #former = new Set<Generation>();

  private constructor(
    readonly first: Generation,
    readonly services: FrontServices,
    readonly log: Log,
  ) {
    this.#current = first;
  }

  /** Loads the plugins of a front end; their resources are released with the scope. Throws ConfigError. */
  static async load({ data, log, closers }: ThreadScope, services: FrontServices): Promise<FrontPlugins> {
    const first = await generationOf(data, services, { points: KEPT_POINTS, closers });
    const loaded = new FrontPlugins(first, services, log);
    closers.add('the plugins of the front end', () => loaded.#release());
    return loaded;
  }

  /** The calls of the current plugins, without earlier calls of kept parts. */
  get calls(): FrontCalls {
    return this.#current.calls;
  }

  at<Out>(point: Combined<Out>): Out {
    return this.#pluginsAt(point).at(point);
  }

  configured<In>(point: Point<Thread, In, unknown>): readonly Contributed<In>[] {
    return this.#pluginsAt(point).configured(point);
  }

  /** Loads other plugins. Throws ConfigError, and the error of a plugin that cannot be made. */
  async prepare(data: ThreadData): Promise<PreparedPlugins> {
    const next = await generationOf(data, this.services, { points: KEPT_POINTS });
    return {
      plugins: next.plugins,
      use: () => {
        const former = this.#current;
        this.#current = next;
        this.#former.add(former);
        return async () => {
          await former.closers.closeAll(this.log);
          this.#former.delete(former);
        };
      },
      discard: () => next.closers.closeAll(this.log),
    };
  }

  #pluginsAt({ name }: { readonly name: string }): Plugins {
    return (KEPT_POINTS.includes(name) ? this.first : this.#current).plugins;
  }

  async #release(): Promise<void> {
    for (const { closers } of [this.#current, ...this.#former]) await closers.closeAll(this.log);
  }
}

async function generationOf(data: ThreadData, services: FrontServices, kept: KeptParts): Promise<Generation> {
  const closers = new Closers();
  const { plugins, calls, inspection } = data;
  const running = RunningCalls.memory(plugins.length);
  const all = { ...services, running: new RunningCalls(running), closers, kept };
  const loaded = await loadPlugins(data, 'front', all);
  return { plugins: loaded, calls: { plugins, calls, inspection, running }, closers };
}
