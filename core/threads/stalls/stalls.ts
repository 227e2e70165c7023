import type { Log } from '../../api/host.js';
import { PLUGIN_CALL_MS, PLUGIN_STALL_MS } from '../../limits.js';
import type { Culprits } from '../../plugin/calls/blame.js';
import { CallCounters } from '../../plugin/calls/callCounters.js';
import { type CallPlace, RunningCalls } from '../../plugin/calls/runningCalls.js';
import type { ThreadData } from '../data.js';
import type { WatchedProgress } from '../progress.js';
import { StepTime } from '../scheduling.js';

/** Time between two pings that check whether a pool thread still returns to its event loop. */
export const PING_MS = 250;

/**
 * The longest time, in milliseconds, for which a thread may fail to return to its event loop. During a call of a
 * plugin: the time limit of the plugin, and PLUGIN_STALL_MS more. Outside of calls, any call that waits for a promise
 * may have continued, so the longest of their limits applies. If none waits, the work is the server's own and gets the
 * default limit. So do built-in plugins: their own limits are for the answers that they wait for.
 */
export function stallLimit(plugins: ThreadData['plugins'], { suspects }: RunningCalls): number {
  const limits = suspects.map(({ plugin }) => {
    const { path, timeout = PLUGIN_CALL_MS } = plugins[plugin] ?? {};
    return path === undefined ? PLUGIN_CALL_MS : timeout;
  });
  return (limits.length > 0 ? Math.max(...limits) : PLUGIN_CALL_MS) + PLUGIN_STALL_MS;
}

/** The pings that a thread has not answered since its last answer. */
export class Unanswered {
  /** The time since the thread began its last job or call of a plugin. */
  readonly #time: StepTime;
  /** The time since the first ping. */
  readonly #total: StepTime;
  #step: number;
  #begun: number;

  constructor(
    readonly plugins: ThreadData['plugins'],
    readonly calls: RunningCalls,
    readonly progress: Pick<WatchedProgress, 'step' | 'times'>,
    /** Milliseconds between two pings. */
    interval = PING_MS,
  ) {
    this.#step = progress.step;
    this.#begun = calls.begun;
    this.#time = new StepTime(interval, () => progress.times);
    this.#total = new StepTime(interval, () => progress.times);
  }

  /**
   * Counts one more ping. Returns the milliseconds since the first one, without the time for which the thread has
   * waited for a core, and whether the thread must be ended.
   */
  add(): { readonly ms: number; readonly isStalled: boolean } {
    const { step } = this.progress;
    const { begun } = this.calls;
    if (step !== this.#step || begun !== this.#begun) this.#time.restart();
    this.#step = step;
    this.#begun = begun;
    return { ms: this.#total.add(), isStalled: this.#time.add() >= stallLimit(this.plugins, this.calls) };
  }
}

/**
 * Logs that a thread does not return to its event loop and is ended, with the plugins whose calls it is executing. If
 * there is only one, this is counted as a timeout of the plugin. Returns the plugins.
 */
export function reportStalled(
  thread: string,
  { plugins, calls }: Pick<ThreadData, 'plugins' | 'calls'>,
  running: SharedArrayBuffer,
  log: Log,
): Culprits {
  const { suspects } = new RunningCalls(running);
  const [only, ...others] = suspects;
  if (only && others.length === 0) new CallCounters(calls).of(only.plugin, only.point).countFailure('timeout');
  const nameOf = ({ plugin }: CallPlace): string => plugins[plugin]?.name ?? plugins[plugin]?.use ?? '';
  const names = suspects.map(place => `${nameOf(place)} (${place.point})`);
  log.error(
    { plugins: names },
    `${thread} does not return to its event loop, and is ended: ${names.join(', ') || 'no plugin is known to run'}`,
  );
  if (only && others.length === 0) return { plugin: nameOf(only), point: only.point };
  return names.length > 0 ? { plugins: names } : {};
}
