import type { FailurePolicy } from '../api/point.js';
import type { ResourceType } from '../api/resource.js';
import type { NamingName } from '../naming.js';

/** A plugin by module and JSON, so that every thread can build its own copy. */
export interface PluginSpec {
  readonly use: string;
  readonly config?: unknown;
  /** How long one call may take, in milliseconds; absent: PLUGIN_CALL_MS. */
  readonly timeout?: number;
  /** Absent: Fail. */
  readonly failurePolicy?: FailurePolicy;
  /** Only these threads import it; absent: all. */
  readonly threads?: readonly string[];
  /** Of a plugin of the configuration: its place there, its name, and the points that it contributes to. */
  readonly path?: string;
  readonly name?: string;
  readonly points?: readonly string[];
}

/** What every thread is created with. */
export interface ThreadData {
  readonly naming: NamingName;
  readonly plugins: readonly PluginSpec[];
  /** Resource types of the settings; they hold no functions. */
  readonly resources: readonly ResourceType[];
  /** Calls of plugins (see CallCounters). */
  readonly calls: SharedArrayBuffer;
  /** Numbers of messages that the writer has posted, one counter per connected thread (feed.ts). */
  readonly counters: SharedArrayBuffer;
  readonly verbosity: number;
  /** Whether requests without credentials are allowed as the anonymous user. */
  readonly anonymous: boolean;
}

/**
 * The `execArgv` option of a new thread. By default a thread has the flags of the process. It gets none if these
 * include `--input-type`, for a program given as text: the thread's module is a file.
 */
export const threadFlags = (): { execArgv?: string[] } =>
  process.execArgv.some(flag => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
