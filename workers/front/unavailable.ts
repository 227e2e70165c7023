import { Refusal } from '../../core/model/refusal.js';

/**
 * The store did not answer in time: what a read would show, or whether a write took place, is not known. Upstream's
 * words for a request out of time.
 */
export const unavailable = (): Refusal =>
  new Refusal('Timeout', 'Timeout: request did not complete within the allotted timeout');
