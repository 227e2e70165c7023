import type { Log, Thread } from '../../core/api/host.js';
import type { Combined, Contributed, Point } from '../../core/api/point.js';
import type { HostServices } from '../../core/plugin/host.js';
import { loadPlugins, type Plugins } from '../../core/plugin/load/load.js';
import { Releases } from '../../core/plugin/releases.js';
import type { ThreadData } from '../../core/threads/data.js';
import type { ThreadScope } from '../../core/threads/thread.js';

/** What the front end offers to plugins. */
type FrontServices = Omit<HostServices, 'releases'>;

/** Plugins of this thread that were loaded together, and what they hold. */
interface Generation {
  readonly plugins: Plugins;
  readonly releases: Releases;
}

/** The plugins of the front end. Others can replace them while it runs: ask for the parts of a point when needed. */
export class FrontPlugins implements Plugins {
  #current: Generation;

  private constructor(
    first: Generation,
    readonly services: FrontServices,
    readonly log: Log,
  ) {
    this.#current = first;
  }

  /** Loads the plugins of a front end; what they hold is released with the scope. Throws ConfigError. */
  static async load({ data, log, releases }: ThreadScope, services: FrontServices): Promise<FrontPlugins> {
    const first = await generationOf(data, services);
    const loaded = new FrontPlugins(first, services, log);
    releases.add('the plugins of the front end', () => loaded.#current.releases.run(log));
    return loaded;
  }

  at<Out>(point: Combined<Out>): Out {
    return this.#current.plugins.at(point);
  }

  configured<In>(point: Point<Thread, In, unknown>): readonly Contributed<In>[] {
    return this.#current.plugins.configured(point);
  }

  /**
   * Loads other plugins. Resolves with them, and a function that has them take the place of those before, which are
   * released. Throws ConfigError, and what a plugin throws when it is made.
   */
  async prepare(data: ThreadData): Promise<{ readonly plugins: Plugins; use(): void; discard(): Promise<void> }> {
    const next = await generationOf(data, this.services);
    return {
      plugins: next.plugins,
      use: () => {
        const former = this.#current;
        this.#current = next;
        void former.releases.run(this.log);
      },
      discard: () => next.releases.run(this.log),
    };
  }
}

async function generationOf(data: ThreadData, services: FrontServices): Promise<Generation> {
  const releases = new Releases();
  return { plugins: await loadPlugins(data, 'front', { ...services, releases }), releases };
}
