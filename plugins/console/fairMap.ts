/** An entry of a FairMap. */
interface Entry<T> {
  readonly owner: string;
  readonly value: T;
}

/**
 * Values by key, each with an owner. Adding one to `most` values removes the oldest value of the owner who has most, so
 * that nobody can displace the values of others by adding many.
 */
export class FairMap<T> {
  /** The oldest one first. */
  readonly #entries = new Map<string, Entry<T>>();

  constructor(readonly most: number) {}

  /** Adds a value as the newest one. Values for which `isOver` returns true are removed first. */
  add(key: string, owner: string, value: T, isOver: (value: T) => boolean): void {
    for (const [of, entry] of this.#entries) if (isOver(entry.value)) this.#entries.delete(of);
    if (this.#entries.size >= this.most) this.#entries.delete(this.#oldestOfMost());
    this.#entries.set(key, { owner, value });
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Makes a value the newest one. */
  touch(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && this.#entries.delete(key)) this.#entries.set(key, entry);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #oldestOfMost(): string {
    const counts = new Map<string, number>();
    for (const { owner } of this.#entries.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const [key] = [...this.#entries].find(([, { owner }]) => counts.get(owner) === most)!;
    return key;
  }
}
