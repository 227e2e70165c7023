import type { Host, Informer, InternalRequest, ResourceEvent, Thread } from '../api/host.js';
import type { Combined } from '../api/point.js';
import type { ApiObject } from '../model/object.js';
import { RELEASE_MS } from '../limits.js';
import { namingOf } from '../naming.js';
import type { ThreadData } from '../threads/data.js';
import { withinDeadline } from './deadline.js';
import { logOf } from './log.js';
import type { Releases } from './releases.js';

/** What a thread offers its plugins beyond log, clock and naming. */
export interface HostServices {
  /** What the plugins hold is released with everything else of the thread. */
  readonly releases: Releases;
  readonly informer?: (storageName: string) => Informer;
  readonly request?: (controller: string, request: InternalRequest) => Promise<ApiObject>;
  readonly watch?: (listener: (event: ResourceEvent) => void) => void;
}

/** The plugins of a thread while they are made, and afterwards. */
export interface PluginSet {
  /** Every plugin has been made. */
  readonly isComplete: boolean;
  at<Out>(point: Combined<Out>): Out;
}

const notAvailable = (what: string, thread: Thread) => (): never => {
  throw new Error(`${what} is not available in the ${thread} thread`);
};

/**
 * Informers for the plugins of a thread. The pool is sent the objects of those that were asked for when its plugins
 * were made: one that is asked for later would be empty.
 */
function informersOf(
  thread: Thread,
  plugins: PluginSet,
  informer: (storageName: string) => Informer,
): Host<'request'>['informer'] {
  const known = new Set<string>();
  return storageName => {
    if (plugins.isComplete && thread === 'request' && !known.has(storageName))
      throw new Error(`informer('${storageName}') must be called when the plugin is made, not later`);
    known.add(storageName);
    return informer(storageName);
  };
}

/** A host with the members of every thread; those that a thread does not offer throw. */
type FullHost = Omit<Host<'control'>, 'thread'> & { readonly thread: Thread };

/** Makes the host of each plugin of a thread. */
export function hostOf(
  data: ThreadData,
  thread: Thread,
  services: HostServices,
  plugins: PluginSet,
): (plugin: string) => Host {
  const { releases, informer } = services;
  const informers = informer ? informersOf(thread, plugins, informer) : notAvailable('informer', thread);
  const at: Host['at'] = point => {
    if (plugins.isComplete) return plugins.at(point);
    throw new Error(`at(${point.name}) is available once every plugin of the thread has been made, not before`);
  };
  return (plugin): FullHost => ({
    thread,
    log: logOf(plugin, data.verbosity),
    naming: namingOf(data.naming),
    now: Date.now,
    onClose: release => releases.add(`plugin ${plugin}`, () => withinDeadline(release(), RELEASE_MS, true)),
    informer: informers,
    request: services.request ?? notAvailable('request', thread),
    watch: services.watch ?? notAvailable('watch', thread),
    at,
  });
}
