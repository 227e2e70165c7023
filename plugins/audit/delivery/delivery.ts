import type { AuditEvent, AuditSink, Awaitable, Host } from '../../../core/api/index.js';
import type { AuditMode } from '../../../core/api/observe/audit.js';
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

  async close(): Promise<void> {
    this.writer.hurry?.();
    await this.#batches?.close();
    await this.writer.close?.();
  }

  async #writeNow(text: string): Promise<void> {
    try {
      await this.writer.write([text]);
    } catch (error) {
      this.#lost.add(this.writer.name, 1, error as Error);
      if (this.mode === 'blocking-strict') throw error;
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
