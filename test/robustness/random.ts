/** A generator of pseudo-random numbers, the same for the same seed (a mixed Weyl sequence). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the values, all equally likely. */
  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }

  /** One of the values, with a probability in proportion to its weight. */
  weighted<T>(values: readonly (readonly [value: T, weight: number])[]): T {
    let left = this.next() * values.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of values) if ((left -= weight) < 0) return value;
    return values.at(-1)![0];
  }

  /** A new generator. With its own generator, each client has the same sequence whatever the others do. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 31));
  }
}
