import { CallCounters } from '../../../core/plugin/calls/callCounters.js';
import type { Log } from '../../../core/api/host.js';
import { PLUGIN_CALL_MS } from '../../../core/limits.js';
import { type CallPlace, RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import type { ThreadData } from '../../../core/threads/data.js';
import type { Culprits } from '../../../core/plugin/calls/blame.js';

/** Time between two questions to a thread of the pool whether it still returns to its event loop. */
export const PING_MS = 1000;

/**
 * How many questions a thread may leave unanswered: as many as the longest time limit of a plugin of the configuration
 * takes, or the default one. Questions are counted instead of time, because the process may have been suspended
 * meanwhile.
 */
export function maxUnanswered({ plugins }: Pick<ThreadData, 'plugins'>): number {
  const limits = plugins.flatMap(({ path, timeout = 0 }) => (path === undefined ? [] : [timeout]));
  return Math.ceil(Math.max(PLUGIN_CALL_MS, ...limits) / PING_MS);
}

/**
 * Logs that a thread does not return to its event loop, with the plugins whose calls it is in. If there is one only,
 * that is counted as a timeout of the plugin. Returns the plugins.
 */
export function reportStalled({ plugins, calls }: ThreadData, running: SharedArrayBuffer, log: Log): Culprits {
  const { suspects } = new RunningCalls(running);
  const [only, ...others] = suspects;
  if (only && others.length === 0) new CallCounters(calls).of(only.plugin, only.point).countFailure('timeout');
  const nameOf = ({ plugin }: CallPlace): string => plugins[plugin]?.name ?? plugins[plugin]?.use ?? '';
  const names = suspects.map(place => `${nameOf(place)} (${place.point})`);
  log.error(
    { plugins: names },
    `a pool thread does not return to its event loop, and is ended: ${names.join(', ') || 'no plugin is known to run'}`,
  );
  if (only && others.length === 0) return { plugin: nameOf(only), point: only.point };
  return names.length > 0 ? { plugins: names } : {};
}
