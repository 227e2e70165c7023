/** A generator of pseudo-random numbers that a seed replays (a Weyl sequence, mixed). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }

  /** One of the values, as likely as its weight. */
  weighted<T>(values: readonly (readonly [value: T, weight: number])[]): T {
    let left = this.next() * values.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of values) if ((left -= weight) < 0) return value;
    return values.at(-1)![0];
  }

  /** A generator of its own, so that clients do not disturb each other's sequences. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 31));
  }
}
