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
  /** Place and name of a plugin of the configuration. */
  readonly path?: string;
  readonly name?: string;
}

/** What every thread is started with. */
export interface ThreadData {
  readonly naming: NamingName;
  readonly plugins: readonly PluginSpec[];
  /** Resource types of the settings: JSON alone. */
  readonly resources: readonly ResourceType[];
  /** Failed calls of plugins (see FailureCounters). */
  readonly failures: SharedArrayBuffer;
  /** Post counters of the writer, one per connected thread (see feed.ts). */
  readonly counters: SharedArrayBuffer;
  readonly verbosity: number;
  /** Authorization and admission settings the pipeline itself reads. */
  readonly anonymous: boolean;
}

/**
 * Options of a thread's Node flags: those of the process, which it has without being told. Where the program was given
 * as text, none: a thread's module is no text, and most other flags cannot be told to a thread.
 */
export const threadFlags = (): { execArgv?: string[] } =>
  process.execArgv.some(flag => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
