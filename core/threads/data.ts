import type { ResourceType } from '../api/resource.js';
import type { NamingName } from '../naming.js';

/** A plugin by module and JSON, so that every thread can build its own copy. `threads`: only these import it. */
export interface PluginSpec {
  readonly use: string;
  readonly config?: unknown;
  readonly threads?: readonly string[];
}

/** What every thread is started with. */
export interface ThreadData {
  readonly naming: NamingName;
  readonly plugins: readonly PluginSpec[];
  /** Resource types of the settings: JSON alone. */
  readonly resources: readonly ResourceType[];
  /** Post counters of the writer, one per connected thread (see feed.ts). */
  readonly counters: SharedArrayBuffer;
  readonly verbosity: number;
  /** Authorization and admission settings the pipeline itself reads. */
  readonly anonymous: boolean;
}

/** Node's flags of a thread: those of the process, but for the kind of a program given as text, which a thread's module is not. */
export const threadFlags = (): string[] => process.execArgv.filter(flag => !flag.startsWith('--input-type'));
