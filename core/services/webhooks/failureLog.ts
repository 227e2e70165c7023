import type { Host } from '../../api/host.js';

/** The shortest time between two logged failures of one webhook, since all requests may fail. */
const LOG_MS = 1000;

/**
 * Returns a function that logs why a webhook has failed, at most once a second. `what` is the subject of the message.
 */
export function failureLog(
  { log, now }: Pick<Host, 'log' | 'now'>,
  what: string,
  fields: Readonly<Record<string, unknown>> = {},
): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return error => {
    const time = now();
    if (time - loggedAt < LOG_MS) return;
    loggedAt = time;
    log.warn(fields, `${what} has failed: ${(error as Error).message}`);
  };
}
