import type { Host, Informer, InternalRequest, Log, ResourceEvent, Thread } from '../api/host.js';
import type { Awaitable } from '../api/point.js';
import type { ApiObject } from '../model/object.js';
import { namingOf } from '../naming.js';
import type { ThreadData } from '../threads/data.js';
import { logOf } from './log.js';

/** What a thread can lend its plugins beyond log, clock and naming. */
export interface Lent {
  readonly onClose: (release: () => Awaitable<void>) => unknown;
  readonly informer?: (storageName: string) => Informer;
  readonly request?: (controller: string, request: InternalRequest) => Promise<ApiObject>;
  readonly watch?: (listener: (event: ResourceEvent) => void) => void;
}

/** What a thread and its plugins give back at its end, the last first. */
export class Releases {
  readonly #all: (() => unknown)[];

  /** `all` may go on to grow. */
  constructor(all: (() => unknown)[] = []) {
    this.#all = all;
  }

  readonly add = (release: () => Awaitable<void>): void => void this.#all.push(release);

  /** Releases everything, once; one that fails is logged and does not keep the others. */
  async run(log: Log): Promise<void> {
    for (const release of this.#all.splice(0).reverse())
      try {
        await release();
      } catch (error) {
        log.error({ stack: (error as Error).stack }, 'something that is held could not be released');
      }
  }
}

const absent = (what: string, thread: Thread) => (): never => {
  throw new Error(`${what} is not available in the ${thread} thread`);
};

/** Makes the host of each plugin of a thread. */
export function hostOf(data: ThreadData, thread: Thread, lent: Lent): (plugin: string) => Host {
  return plugin => ({
    thread,
    log: logOf(plugin, data.verbosity),
    naming: namingOf(data.naming),
    now: Date.now,
    onClose: lent.onClose,
    informer: lent.informer ?? absent('informer', thread),
    request: lent.request ?? absent('request', thread),
    watch: lent.watch ?? absent('watch', thread),
  });
}
