import type { Host } from '../../../core/api/index.js';

/** How often lost events are logged, at most: every event may be lost. */
const LOG_MS = 1000;

/** Parts that lose events, by the names that upstream's metric has. */
export type LosingPart = 'buffered' | 'log' | 'truncate' | 'webhook';

/** Counts events that are lost, in `apiserver_audit_error_total`, and logs them once a second. */
export class LostEvents {
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(readonly host: Pick<Host<'front'>, 'log' | 'now' | 'observe'>) {}

  /** Notes that a part has lost events. `error`: why. */
  add(part: LosingPart, events: number, error: Error): void {
    const { log, now, observe } = this.host;
    observe('apiserver_audit_error_total', { plugin: part }, events);
    this.#unlogged += events;
    const time = now();
    if (time - this.#loggedAt < LOG_MS) return;
    log.error({ part, events: this.#unlogged }, `audit events are lost: ${error.message}`);
    this.#loggedAt = time;
    this.#unlogged = 0;
  }
}
