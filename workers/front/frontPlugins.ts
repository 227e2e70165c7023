import type { Log } from '../../core/api/host.js';
import type { Combined } from '../../core/api/point.js';
import { loadPlugins, type Plugins } from '../../core/plugin/load/load.js';
import { Releases } from '../../core/plugin/releases.js';
import type { ThreadData } from '../../core/threads/data.js';
import type { ThreadScope } from '../../core/threads/thread.js';

/** Plugins of this thread that were loaded together, and what they hold. */
interface Generation {
  readonly plugins: Plugins;
  readonly releases: Releases;
}

/** The plugins of the front end. Others can take their place while it runs: ask for the parts of a point when needed. */
export class FrontPlugins implements Plugins {
  #current: Generation;

  private constructor(
    first: Generation,
    readonly log: Log,
  ) {
    this.#current = first;
  }

  /** Loads the plugins of a front end; what they hold is released with the scope. Throws ConfigError. */
  static async load({ data, log, releases }: ThreadScope): Promise<FrontPlugins> {
    const first = await generationOf(data);
    const loaded = new FrontPlugins(first, log);
    releases.add('the plugins of the front end', () => loaded.#current.releases.run(log));
    return loaded;
  }

  at<Out>(point: Combined<Out>): Out {
    return this.#current.plugins.at(point);
  }

  /**
   * Loads other plugins. Resolves with them, and a function that has them take the place of those before, which are
   * released. Throws ConfigError, and what a plugin throws when it is made.
   */
  async prepare(data: ThreadData): Promise<{ readonly plugins: Plugins; use(): void; discard(): Promise<void> }> {
    const next = await generationOf(data);
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

async function generationOf(data: ThreadData): Promise<Generation> {
  const releases = new Releases();
  return { plugins: await loadPlugins(data, 'front', { releases }), releases };
}
