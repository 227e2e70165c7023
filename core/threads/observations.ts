import { OBSERVATIONS_WAITING } from '../limits.js';
import { setTimeout } from '../runtime/timers.js';
import type { Observation } from './messages/lifecycle.js';

/** How long observations wait for others. */
const GATHER_MS = 100;

/** Gathers what plugins count, and posts it in few messages. */
export class Observations {
  #waiting: Observation[] = [];

  constructor(readonly post: (observations: readonly Observation[]) => void) {}

  /** Adds an observation. Some are lost if very many are made within a tenth of a second. */
  add(metric: string, labels: Observation['labels'], value: number): void {
    if (this.#waiting.length >= OBSERVATIONS_WAITING) return;
    if (this.#waiting.push({ metric, labels, value }) === 1) setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  #flush(): void {
    const observations = this.#waiting;
    this.#waiting = [];
    this.post(observations);
  }
}
