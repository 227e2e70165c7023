import type { Binding } from '../../../core/api/listener.js';
import type { ObservedMetrics } from '../../../core/services/metrics/index.js';
import type { Naming } from '../../../core/naming.js';
import type { Registry } from '../../../core/schema/resource.js';
import type { DataDirectory } from '../../../core/settings/dataDirectory.js';
import type { Settings } from '../../../core/settings/settings.js';
import type { ThreadData } from '../../../core/threads/data.js';
import type { ThreadScope } from '../../../core/threads/thread.js';
import type { Pools } from '../pool/pools.js';
import type { StoreThread } from './writerThread.js';

/** Threads that load their modules, but no plugins yet. */
export interface Threads {
  readonly store: StoreThread;
  readonly pool: Pools;
  /** Whether there are other servers in this process. */
  readonly isFurther: boolean;
  /** The counters of plugins in the pool. */
  readonly observed: ObservedMetrics;
}

/** The parts of a server. */
export interface FrontEndInputs {
  readonly settings: Settings;
  readonly naming: Naming;
  readonly home: DataDirectory;
  readonly scope: ThreadScope;
  readonly threads: Threads;
  /** The file with the first objects of a new store; undefined if controllers write them. */
  readonly firstObjects: string | undefined;
  /** The addresses that the server listens on. */
  readonly bindings: readonly Binding[];
  /** The data of threads that are created now. */
  readonly data: () => ThreadData;
  /** Completes the inputs of `controlData`, which may be called when it resolves. */
  readonly beforeControllers: () => Promise<void>;
  /** The data of a control thread that is created now, for the kinds that are served without stored definitions. */
  readonly controlData: (kinds: Registry) => ThreadData;
  /** Whether the server is closing. */
  readonly isClosing: () => boolean;
}
