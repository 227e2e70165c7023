/** A token bucket: it allows `perSecond` on average, and `burst` at once after a pause. */
export class TokenBucket {
  #tokens: number;
  #filledAt: number;

  /** `now`: a time in milliseconds that does not go back. */
  constructor(
    readonly perSecond: number,
    readonly burst: number,
    readonly now: () => number,
  ) {
    this.#tokens = burst;
    this.#filledAt = now();
  }

  /** Takes a token. Returns false if there is none. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Milliseconds until a token is available; 0 if one is. */
  wait(): number {
    this.#fill();
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1000) / this.perSecond;
  }

  #fill(): void {
    const now = this.now();
    this.#tokens = Math.min(this.burst, this.#tokens + ((now - this.#filledAt) * this.perSecond) / 1000);
    this.#filledAt = now;
  }
}
