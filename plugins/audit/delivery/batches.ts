import { AUDIT_BATCHES, AUDIT_BUFFER_BYTES, AUDIT_DRAIN_MS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { TokenBucket } from '../../../core/runtime/tokenBucket.js';
import { withResolvers } from '../../../core/runtime/withResolvers.js';
import type { LostEvents } from './failures.js';
import type { BatchOptions } from './options.js';
import type { EventWriter } from './writer.js';

/** An event as it is written. */
interface Waiting {
  readonly text: string;
  readonly bytes: number;
}

/** Gathers events and writes them in batches. Nobody waits for it: beyond its limits, events are lost. */
export class Batches {
  #waiting: Waiting[] = [];
  /** Bytes of the events that wait, or are in a batch that is being written. */
  #bytes = 0;
  /** Batches that are being written, and their events. */
  #writing = 0;
  #eventsInBatches = 0;
  /** Whether the events that wait have waited long enough. */
  #isDue = false;
  #isClosing = false;
  /** The timer until the waiting events are due. It is started with the first of them. */
  #wait: NodeJS.Timeout | undefined;
  /** The timer until the throttle allows a batch. */
  #pause: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;
  readonly #bucket: TokenBucket | undefined;

  /** `maxBytes`: the size of a batch. */
  constructor(
    readonly writer: EventWriter,
    readonly options: BatchOptions,
    readonly maxBytes: number,
    readonly lost: LostEvents,
  ) {
    const { throttle } = options;
    this.#bucket = throttle && new TokenBucket(throttle.perSecond, throttle.burst, monotonicTime);
  }

  /** Adds an event; it is lost if too many wait. */
  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#waiting.length >= this.options.bufferSize || this.#bytes + bytes > AUDIT_BUFFER_BYTES)
      return void this.lost.add('buffered', 1, new Error('too many wait to be written'));
    this.#bytes += bytes;
    this.#waiting.push({ text, bytes });
    this.#write();
  }

  /**
   * Writes the waiting events, without the pauses between batches. An event that is not written within AUDIT_DRAIN_MS
   * is lost.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    const { promise, resolve } = withResolvers<void>();
    this.#idle = resolve;
    const limit = setTimeout(resolve, AUDIT_DRAIN_MS);
    this.#write();
    await promise;
    clearTimeout(limit);
    const left = this.#waiting.length + this.#eventsInBatches;
    this.#waiting = [];
    if (left > 0) this.lost.add('buffered', left, new Error('they were not written before the server closed'));
  }

  /** Begins the batches that may begin, and sets the timer for the next one. */
  #write(): void {
    const { maxSize, maxWaitMs } = this.options;
    while (this.#waiting.length > 0 && this.#writing < (this.writer.batchesAtOnce ?? AUDIT_BATCHES)) {
      const isReady = this.#isDue || this.#isClosing || this.#waiting.length >= maxSize || maxWaitMs === 0;
      if (!isReady) return void this.#startWait(maxWaitMs);
      const pause = this.#isClosing ? 0 : (this.#bucket?.wait() ?? 0);
      if (pause > 0) return void this.#startPause(pause);
      this.#bucket?.take();
      void this.#writeBatch(this.#next());
    }
    if (this.#waiting.length === 0 && this.#writing === 0) this.#idle?.();
  }

  /** Further events do not prolong a wait. */
  #startWait(milliseconds: number): void {
    this.#wait ??= setTimeout(() => {
      this.#wait = undefined;
      this.#isDue = true;
      this.#write();
    }, milliseconds).unref();
  }

  #startPause(milliseconds: number): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#write();
    }, milliseconds).unref();
  }

  /** Takes the next batch: as many events as its size allows, and at least one. */
  #next(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const one of this.#waiting) {
      bytes += one.bytes;
      if (count > 0 && (count >= this.options.maxSize || bytes > this.maxBytes)) break;
      count++;
    }
    const batch = this.#waiting.splice(0, count);
    clearTimeout(this.#wait);
    this.#wait = undefined;
    if (this.#waiting.length === 0) this.#isDue = false;
    return batch;
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    this.#writing++;
    this.#eventsInBatches += batch.length;
    try {
      await this.writer.write(batch.map(({ text }) => text));
    } catch (error) {
      this.lost.add(this.writer.name, batch.length, error as Error);
    }
    this.#writing--;
    this.#eventsInBatches -= batch.length;
    this.#bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#write();
  }
}
