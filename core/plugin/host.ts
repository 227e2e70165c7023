import type { Host, Informer, InternalRequest, ResourceEvent, Thread } from '../api/host.js';
import type { Combined } from '../api/point.js';
import type { ApiObject } from '../model/object.js';
import { RELEASE_MS } from '../limits.js';
import { namingOf } from '../naming.js';
import type { ThreadData } from '../threads/data.js';
import { withinDeadline } from './deadline.js';
import { logOf } from './log.js';
import type { Releases } from './releases.js';

/** What a thread offers to plugins in addition to log, clock and naming. */
export interface HostServices {
  /** The release functions of the thread, to which those of the plugins are added. */
  readonly releases: Releases;
  readonly informer?: (storageName: string) => Informer;
  readonly request?: (controller: string, request: InternalRequest) => Promise<ApiObject>;
  readonly watch?: (listener: (event: ResourceEvent) => void) => void;
}

/** The contributions to extension points in a thread. */
export interface PluginSet {
  /** Whether all contributions have been created. */
  readonly isComplete: boolean;
  at<Out>(point: Combined<Out>): Out;
}

const notAvailable = (what: string, thread: Thread) => (): never => {
  throw new Error(`${what} is not available in the ${thread} thread`);
};

/**
 * The informers for the plugins of a thread. The pool receives only objects of resources whose informers were requested
 * while the plugins were created. A later informer would be empty, so requesting it throws.
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

/** A host with the members of all threads; those that a thread does not offer throw. */
type FullHost = Omit<Host<'control'>, 'thread'> & { readonly thread: Thread };

/** Creates the hosts of the plugins of a thread. */
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
