import type { AuditEvent, Awaitable } from '../../../core/api/index.js';
import type { LosingPart } from './failures.js';

/** Where the events of a sink go in the end. */
export interface EventWriter {
  readonly name: LosingPart;
  /** Batches that may be written at the same time; absent: AUDIT_BATCHES. */
  readonly batchesAtOnce?: number;
  /** The text of an event. */
  encode(event: AuditEvent): string;
  /** Writes the texts of events, in order. Rejects if they are lost; some may have been written nevertheless. */
  write(events: readonly string[]): Promise<void>;
  /** Called before the last events are written: nothing may take long from now on. */
  hurry?(): void;
  /** Called when nothing is written any more. */
  close?(): Awaitable<void>;
}
