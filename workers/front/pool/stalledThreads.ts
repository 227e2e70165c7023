import { CallCounters } from '../../../core/plugin/calls/callCounters.js';
import type { Log } from '../../../core/api/host.js';
import { PLUGIN_CALL_MS, PLUGIN_STALL_MS } from '../../../core/limits.js';
import { type CallPlace, RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import type { ThreadData } from '../../../core/threads/data.js';
import type { WatchedProgress } from '../../../core/threads/progress.js';
import type { Culprits } from '../../../core/plugin/calls/blame.js';

/** Time between two questions to a thread of the pool whether it still returns to its event loop. */
export const PING_MS = 250;

/**
 * How many questions a thread may leave unanswered. If it is in the call of a plugin, as many as the time limit of the
 * plugin takes, and PLUGIN_STALL_MS more. If it is in none, any of those that wait for a promise may continue: as many
 * as the longest of their limits takes. If none waits, the work is the server's own, which is given the default limit,
 * as built-in plugins are: their own limits are for what they wait for.
 */
export function mostUnanswered(plugins: ThreadData['plugins'], { suspects }: RunningCalls): number {
  const limits = suspects.map(({ plugin }) => {
    const { path, timeout = PLUGIN_CALL_MS } = plugins[plugin] ?? {};
    return path === undefined ? PLUGIN_CALL_MS : timeout;
  });
  return Math.ceil(((limits.length > 0 ? Math.max(...limits) : PLUGIN_CALL_MS) + PLUGIN_STALL_MS) / PING_MS);
}

/**
 * Counts the questions that a thread leaves unanswered, since it has begun its last job or call of a plugin. Questions
 * are counted instead of time, because the process may have been suspended meanwhile.
 */
export class Unanswered {
  /** All of them. */
  total = 0;
  #count = 0;
  #step: number;
  #begun: number;

  constructor(
    readonly plugins: ThreadData['plugins'],
    readonly calls: RunningCalls,
    readonly progress: WatchedProgress,
  ) {
    this.#step = progress.step;
    this.#begun = calls.begun;
  }

  /** Counts one more. Returns whether these are too many. */
  add(): boolean {
    const { step } = this.progress;
    const { begun } = this.calls;
    if (step !== this.#step || begun !== this.#begun) this.#count = 0;
    this.#step = step;
    this.#begun = begun;
    this.total++;
    return ++this.#count >= mostUnanswered(this.plugins, this.calls);
  }
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
