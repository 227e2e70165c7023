import type { AnonymousPolicy } from '../access/identity.js';
import type { FailurePolicy } from '../api/point.js';
import type { ResourceType } from '../api/resource.js';
import type { NamingName } from '../naming.js';
import type { Enablement } from '../schema/registry/enablement.js';
import type { LogSettings } from '../plugin/logText.js';

/** A plugin as module name and JSON, so that every thread can create its own instance. */
export interface PluginSpec {
  readonly use: string;
  readonly config?: unknown;
  /** The place of the configuration, for errors about it; absent: errors name only its fields. */
  readonly configPlace?: string;
  /** How long one call may take, in milliseconds; absent: PLUGIN_CALL_MS. */
  readonly timeout?: number;
  /** Absent: Fail. */
  readonly failurePolicy?: FailurePolicy;
  /** Only these threads import it; absent: all. */
  readonly threads?: readonly string[];
  /** Whether its controllers run in each of the servers that share a store; absent: only in the one that leads. */
  readonly everyServer?: boolean;
  /** For plugins of the configuration: its path there, its name, and the points that it contributes to. */
  readonly path?: string;
  readonly name?: string;
  readonly points?: readonly string[];
  /** The version of its modules in the main thread; absent if they are read once (ModuleVersions). */
  readonly version?: number | undefined;
}

/** The data that every thread is created with. */
export interface ThreadData extends LogSettings {
  readonly naming: NamingName;
  readonly plugins: readonly PluginSpec[];
  /** Resource types of the settings; they hold no functions. */
  readonly resources: readonly ResourceType[];
  /** Calls of plugins (see CallCounters). */
  readonly calls: SharedArrayBuffer;
  /**
   * The calls of plugins that this thread is executing (RunningCalls), for kinds of thread of which there is only one.
   */
  readonly running?: SharedArrayBuffer;
  /** Whether a debugger may be attached to the process (Inspection). */
  readonly inspection: SharedArrayBuffer;
  /** Numbers of messages that the writer has posted, one counter per connected thread (feed.ts). */
  readonly counters: SharedArrayBuffer;
  /** Which requests without credentials are allowed as the anonymous user. */
  readonly anonymous: AnonymousPolicy;
  /** The versions and resources of built-in kinds that are switched on or off, compared with the release. */
  readonly enablement: Enablement;
  /** Names of the feature gates that are on. */
  readonly features: readonly string[];
}

/** Whether all plugins are built-in ones. Other plugins may end their thread, or block it. */
export const hasOnlyBuiltIns = ({ plugins }: Pick<ThreadData, 'plugins'>): boolean =>
  plugins.every(({ path }) => path === undefined);

/** Whether a plugin of the configuration contributes to one of these points. */
export const hasOwnPluginAt = ({ plugins }: Pick<ThreadData, 'plugins'>, points: readonly string[]): boolean =>
  plugins.some(one => one.path !== undefined && one.points?.some(point => points.includes(point)));

/**
 * The `execArgv` option of a new thread. By default a thread has the flags of the process. It gets none if they include
 * `--input-type`, which is not valid for programs in files.
 */
export const threadFlags = (): { execArgv?: string[] } =>
  process.execArgv.some(flag => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
