import type { Host, Informer, InternalRequest, ResourceEvent, Thread } from '../api/host.js';
import type { Awaitable } from '../api/point.js';
import type { ApiObject } from '../model/object.js';
import { RELEASE_MS } from '../limits.js';
import { namingOf } from '../naming.js';
import type { ThreadData } from '../threads/data.js';
import { withinDeadline } from './deadline.js';
import { logOf } from './log.js';

/** What a thread offers its plugins beyond log, clock and naming. */
export interface HostServices {
  /** Registers what releases something that the plugin holds; it runs when the thread ends. */
  readonly onClose: (plugin: string, release: () => Awaitable<void>) => unknown;
  readonly informer?: (storageName: string) => Informer;
  readonly request?: (controller: string, request: InternalRequest) => Promise<ApiObject>;
  readonly watch?: (listener: (event: ResourceEvent) => void) => void;
}

const notAvailable = (what: string, thread: Thread) => (): never => {
  throw new Error(`${what} is not available in the ${thread} thread`);
};

/** Makes the host of each plugin of a thread. */
export function hostOf(data: ThreadData, thread: Thread, services: HostServices): (plugin: string) => Host {
  return plugin => ({
    thread,
    log: logOf(plugin, data.verbosity),
    naming: namingOf(data.naming),
    now: Date.now,
    onClose: release => void services.onClose(`plugin ${plugin}`, () => withinDeadline(release, RELEASE_MS)),
    informer: services.informer ?? notAvailable('informer', thread),
    request: services.request ?? notAvailable('request', thread),
    watch: services.watch ?? notAvailable('watch', thread),
  });
}
