import type { AuditEvent, AuditSink, Awaitable, Host } from '../../../core/api/index.js';
import type { AuditMode } from '../../../core/api/observe/audit.js';
import { AUDIT_BUFFER_BYTES, AUDIT_DRAIN_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { withResolvers } from '../../../core/runtime/withResolvers.js';
import { Batches } from './batches.js';
import { LostEvents } from './failures.js';
import type { DeliveryOptions } from './options.js';
import type { EventWriter } from './writer.js';

/** The members of the host that a delivery uses. */
export type DeliveryHost = Pick<Host<'front'>, 'log' | 'now' | 'observe' | 'naming'>;

/**
 * A sink that gives a writer its events: shortened if they are too large, and at once or in batches. Events that are
 * lost are counted by the part that has lost them.
 */
export class Delivery implements AuditSink {
  readonly mode: AuditMode;
  readonly #lost: LostEvents;
  readonly #batches: Batches | undefined;
  readonly #truncated: string;
  /** Events that are being written one by one, and their bytes. */
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;

  constructor(
    readonly writer: EventWriter,
    readonly options: DeliveryOptions,
    host: DeliveryHost,
  ) {
    const { mode, batch, truncate } = options;
    this.mode = mode;
    this.#lost = new LostEvents(host);
    this.#truncated = `${host.naming.group('audit.orchestrator.io')}/truncated`;
    if (mode === 'batch')
      this.#batches = new Batches(writer, batch, truncate?.maxBatchBytes ?? Number.POSITIVE_INFINITY, this.#lost);
  }

  /** In the mode `blocking-strict`, rejects for an event that is lost. */
  write(event: AuditEvent): Awaitable<void> {
    const text = this.#encode(event);
    if (text === undefined) {
      if (this.mode === 'blocking-strict') throw new Error('the audit event is too large');
      return;
    }
    return this.#batches ? this.#batches.add(text) : this.#writeNow(text);
  }

  /** Resolves when all events are written. An event that is not written within AUDIT_DRAIN_MS is lost. */
  async close(): Promise<void> {
    this.writer.hurry?.();
    await this.#batches?.close();
    await this.#drain();
    await this.writer.close?.();
  }

  /** Waits for the events that no answer has waited for, such as that of the end of a watch. */
  async #drain(): Promise<void> {
    if (this.#running.size === 0) return;
    const { promise, resolve } = withResolvers<void>();
    const limit = setTimeout(resolve, AUDIT_DRAIN_MS);
    void Promise.allSettled(this.#running).then(() => resolve());
    await promise;
    clearTimeout(limit);
    const left = this.#running.size;
    if (left > 0) this.#lost.add('buffered', left, new Error('they were not written before the server closed'));
  }

  async #writeNow(text: string): Promise<void> {
    const bytes = Buffer.byteLength(text);
    try {
      // While a writer hangs, the requests of its events end one after another: nothing else limits the number of
      // events.
      if (this.#bytes + bytes > AUDIT_BUFFER_BYTES) throw new Error('too many wait to be written');
      await this.#run(this.writer.write([text]), bytes);
    } catch (error) {
      this.#lost.add(this.writer.name, 1, error as Error);
      if (this.mode === 'blocking-strict') throw error;
    }
  }

  async #run(writing: Promise<void>, bytes: number): Promise<void> {
    this.#bytes += bytes;
    this.#running.add(writing);
    try {
      await writing;
    } finally {
      this.#running.delete(writing);
      this.#bytes -= bytes;
    }
  }

  /** The text of an event, without bodies if it is too large; undefined if it is too large without them. */
  #encode(event: AuditEvent): string | undefined {
    const text = this.writer.encode(event);
    const { truncate } = this.options;
    if (!truncate || Buffer.byteLength(text) <= truncate.maxEventBytes) return text;
    const { requestObject: _request, responseObject: _response, ...rest } = event;
    const annotations = { ...event.annotations, [this.#truncated]: 'true' };
    const shortened = event.level === 'Metadata' ? text : this.writer.encode({ ...rest, annotations });
    if (Buffer.byteLength(shortened) <= truncate.maxEventBytes) return shortened;
    this.#lost.add('truncate', 1, new Error('an event is too large, even without bodies'));
    return undefined;
  }
}
