import { ConfigError } from '../../../core/api/index.js';
import type { AuditMode } from '../../../core/api/observe/audit.js';
import { isRecord } from '../../../core/model/record.js';

/** How events are gathered into batches. */
export interface BatchOptions {
  /** Number of events that may wait; further ones are lost. */
  readonly bufferSize: number;
  /** Largest number of events in a batch. */
  readonly maxSize: number;
  /** How long a batch waits for further events, in milliseconds. */
  readonly maxWaitMs: number;
  /** Batches per second on average, and the number of batches at once after a pause. Absent: they are not limited. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
}

/** Limits of the sizes of events and batches, in bytes. */
export interface TruncateOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

/** How a sink is given events: options that all sinks of the server have. */
export interface DeliveryOptions {
  readonly mode: AuditMode;
  readonly batch: BatchOptions;
  /** Absent: sizes are not limited. */
  readonly truncate?: TruncateOptions;
}

/** Reads the options that the server makes from its flags. Throws ConfigError for something else. */
export function parseDelivery(config: object): DeliveryOptions {
  const { mode, batch, truncate } = config as DeliveryOptions;
  if (typeof mode !== 'string' || !isRecord(batch)) throw new ConfigError('mode', 'use the flags --audit-…');
  return { mode, batch, ...(truncate && { truncate }) };
}
