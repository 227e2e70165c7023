import { answeredEarly, goneAway, tooLarge } from './common.js';

const NOTHING = new Uint8Array(0);

/** Collects the body of a request. After a failure, further parts are discarded. */
export class BodyCollector {
  readonly body: Promise<Uint8Array>;
  /** Whether the last part has arrived. */
  isComplete = false;
  private parts: Uint8Array[] = [];
  private size = 0;
  private settled = false;
  private resolve!: (body: Uint8Array) => void;
  private reject!: (error: unknown) => void;

  constructor(
    private readonly limit: number,
    private readonly onPart: (bytes: number) => void,
  ) {
    this.body = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Adds a part. It is copied, because its memory belongs to uWS. */
  take(part: ArrayBuffer, last: boolean): void {
    this.isComplete = last;
    if (this.settled) return;
    this.size += part.byteLength;
    if (this.size > this.limit) this.fail(tooLarge(this.limit));
    else if (this.keep(part) && last) this.end();
  }

  /** Call when the client has closed the connection. */
  lose(): void {
    this.fail(goneAway());
  }

  /** Call when the request was answered. */
  drop(): void {
    // Creating an error is expensive, so none is created for a body that was read.
    if (!this.settled) this.fail(answeredEarly());
  }

  private keep(part: ArrayBuffer): boolean {
    if (part.byteLength === 0) return true;
    try {
      this.onPart(part.byteLength);
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.parts.push(new Uint8Array(part.slice(0)));
    return true;
  }

  private end(): void {
    const [only = NOTHING] = this.parts;
    this.settled = true;
    this.resolve(this.parts.length > 1 ? Buffer.concat(this.parts, this.size) : only);
    this.parts = [];
  }

  private fail(error: unknown): void {
    if (this.settled) return;
    this.settled = true;
    this.parts = [];
    this.reject(error);
  }
}
