import { Refusal } from '../../../core/model/refusal.js';

/** 504 for a request that ran out of time, with upstream's message. It does not say whether a write took place. */
export const requestTimeout = (): Refusal =>
  new Refusal('Timeout', 'Timeout: request did not complete within the allotted timeout');

/** 429 for a request over one of the bounds on requests in flight. */
export const tooBusy = (): Refusal =>
  new Refusal('TooManyRequests', 'the server is busy; please retry', { retryAfterSeconds: 1 });

/** 410 for a watch whose client may have an object that was deleted and cannot be shown: it must list again. */
export const lostDeletion = (): Refusal =>
  new Refusal('Expired', 'an object that could not be read was deleted: list the objects again');
