import { OBSERVATIONS_WAITING } from '../limits.js';
import { setTimeout } from '../runtime/timers.js';
import type { ObservedValues } from './messages/lifecycle.js';

/** How long observations are collected before they are posted. */
const GATHER_MS = 100;

/**
 * Collects the observations of plugins and posts them in few messages. Values with the same labels are posted together,
 * because the names and labels of a metric cost more to post than a value.
 */
export class Observations {
  /** The collected values by metric and labels. */
  readonly #waiting = new Map<string, ObservedValues & { readonly values: number[] }>();
  #count = 0;

  constructor(readonly post: (observations: readonly ObservedValues[]) => void) {}

  /** Adds an observation. Some are lost if very many are made within a tenth of a second. */
  add(metric: string, labels: ObservedValues['labels'], value: number): void {
    if (this.#count >= OBSERVATIONS_WAITING) return;
    if (this.#count++ === 0) setTimeout(() => this.#flush(), GATHER_MS).unref();
    const key = JSON.stringify([metric, labels]);
    const known = this.#waiting.get(key);
    if (known) known.values.push(value);
    else this.#waiting.set(key, { metric, labels, values: [value] });
  }

  #flush(): void {
    const observations = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#count = 0;
    this.post(observations);
  }
}
