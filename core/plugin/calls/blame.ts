import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginSpec, ThreadData } from '../../threads/data.js';
import { CallCounters } from './callCounters.js';
import { RunningCalls } from './runningCalls.js';

/** The members of a plugin by which its code is found in stacks. Only plugins of the configuration have a `path`. */
type BlamedPlugin = Pick<PluginSpec, 'use' | 'path' | 'name'>;

/** The file of a plugin of the configuration; '' for others. */
const fileOf = ({ use, path }: BlamedPlugin): string =>
  path !== undefined && use.startsWith('file:') ? fileURLToPath(use.replace(/#.*/, '')) : '';

/**
 * The plugin of the configuration whose code a stack names first, as its index in `plugins`; -1 if it names none. That
 * is the plugin whose module is named or, without any, the only one in the folder of a named module.
 */
function pluginInStack(stack: string, plugins: readonly BlamedPlugin[]): number {
  const frames = stack.split('\n').filter(line => /^\s+at /.test(line));
  const files = plugins.map(fileOf);
  const named = (names: readonly string[], end: string): number[] => {
    for (const frame of frames) {
      const found = names
        .map((name, i) => (name !== '' && frame.includes(`${name}${end}`) ? i : -1))
        .filter(i => i >= 0);
      const longest = Math.max(0, ...found.map(i => names[i]!.length));
      if (longest > 0) return found.filter(i => names[i]!.length === longest);
    }
    return [];
  };
  const [first = -1] = named(files, ':');
  if (first >= 0) return first;
  const beside = named(
    files.map(file => (file === '' ? '' : dirname(file))),
    '/',
  );
  return new Set(beside.map(i => files[i])).size === 1 ? beside[0]! : -1;
}

/**
 * Finds the plugin that caused an error outside of its calls, for example in a timer, and counts it as a failure of the
 * plugin. Returns the plugin's name; undefined if the stack names no plugin of the configuration.
 */
export function blame(stack: string, { plugins, calls }: Pick<ThreadData, 'plugins' | 'calls'>): string | undefined {
  const place = pluginInStack(stack, plugins);
  if (place < 0) return undefined;
  new CallCounters(calls).of(place, 'other').countFailure('error');
  return plugins[place]!.name;
}

/**
 * The members of a record that name the plugin that a thread was executing when it ended, or all that it may have been.
 */
export type Culprits =
  | { readonly plugin: string; readonly point?: string }
  | { readonly plugins: readonly string[] }
  | Record<never, never>;

/**
 * Finds the plugin that has ended a thread by an error or, without one, by `process.exit`. It is the plugin in the
 * stack of the error. An exit has no stack, and that of an out-of-memory error does not help. Then it is the plugin
 * whose call the thread was executing (RunningCalls), all of them if several calls waited, and any plugin of the
 * configuration if there were none. If only one is possible, this counts as a failure of the plugin.
 */
export function culpritsOf(
  error: NodeJS.ErrnoException | undefined,
  running: SharedArrayBuffer | undefined,
  data: Pick<ThreadData, 'plugins' | 'calls'>,
): Culprits {
  const { plugins, calls } = data;
  if (error && error.code !== 'ERR_WORKER_OUT_OF_MEMORY') {
    const plugin = blame(error.stack ?? '', data);
    return plugin === undefined ? {} : { plugin };
  }
  const suspects = running ? new RunningCalls(running).suspects : [];
  const nameOf = (place: number): string => plugins[place]?.name ?? plugins[place]?.use ?? '';
  const [only, ...others] = suspects;
  if (only && others.length === 0) {
    new CallCounters(calls).of(only.plugin, only.point).countFailure('error');
    return { plugin: nameOf(only.plugin), point: only.point };
  }
  if (only) return { plugins: suspects.map(one => `${nameOf(one.plugin)} (${one.point})`) };
  const configured = plugins.flatMap(({ path, name }) => (path === undefined ? [] : (name ?? [])));
  return configured.length > 0 ? { plugins: [...new Set(configured)] } : {};
}

/** Whether any culprits are known. */
export const isKnown = (culprits: Culprits): boolean => Object.keys(culprits).length > 0;

/**
 * The error for a thread that has ended; its message names the plugins that the thread was executing. Its name is
 * `ThreadError`, in other threads too; the cause is the error that ended the thread, if there was one.
 */
export function threadError(thread: string, culprits: Culprits, why: string, cause?: Error): Error {
  const error = new Error(`${thread} ended${culpritsText(culprits)}: ${why}`, { cause });
  error.name = 'ThreadError';
  return error;
}

/** The names in a text: `while the plugin labels (mutator) ran`; '' if there are none. */
export function culpritsText(culprits: Culprits): string {
  if ('plugin' in culprits)
    return ` while the plugin ${culprits.plugin}${culprits.point === undefined ? '' : ` (${culprits.point})`} ran`;
  return 'plugins' in culprits ? ` while one of these plugins ran: ${culprits.plugins.join(', ')}` : '';
}
