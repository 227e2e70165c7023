import { X509Certificate } from 'node:crypto';
import { reconciler } from '../../../core/api/index.js';
import { unchanged } from '../requests.js';
import { hasCondition, REQUESTS } from './request.js';
import { ACCOUNT, type StoredRequest } from './requestController.js';

const HOUR = 3_600_000;
/** How often requests are examined. */
const INTERVAL_MS = HOUR;
/** How long requests are kept after a decision, and while there is none: upstream's times. */
const KEPT_MS: readonly (readonly [condition: string, milliseconds: number])[] = [
  ['Denied', HOUR],
  ['Failed', HOUR],
];
const ISSUED_MS = HOUR;
const PENDING_MS = 24 * HOUR;

/** Milliseconds since a condition was last updated; undefined if there is none. */
function ageOf(object: StoredRequest, type: string, now: number): number | undefined {
  const condition = (object.status?.conditions ?? []).find(one => one.type === type);
  const time = condition && Date.parse(condition.lastUpdateTime ?? '');
  return time === undefined || Number.isNaN(time) ? undefined : now - time;
}

const isOlder = (age: number | undefined, limit: number): boolean => age !== undefined && age > limit;

/** Whether the certificate of a request has expired. */
function isExpired(certificate: string, now: number): boolean {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo) < now;
  } catch {
    return false;
  }
}

/** Returns why a request is no longer needed; undefined if it is. */
export function obsolescence(object: StoredRequest, now: number): string | undefined {
  const certificate = object.status?.certificate ?? '';
  if (certificate !== '') {
    if (isOlder(ageOf(object, 'Approved', now), ISSUED_MS)) return 'its certificate was issued';
    if (isExpired(certificate, now)) return 'its certificate has expired';
  }
  for (const [condition, milliseconds] of KEPT_MS)
    if (isOlder(ageOf(object, condition, now), milliseconds)) return `it is ${condition}`;
  const isPending = !['Approved', 'Denied', 'Failed'].some(type => hasCondition(object, type));
  const created = Date.parse(object.metadata.creationTimestamp ?? '');
  return isPending && now - created > PENDING_MS ? 'nobody decided about it' : undefined;
}

/** Removes requests that were handled an hour ago, and those that have been undecided for a day. */
export const cleaner = reconciler({
  name: 'certificatesigningrequest-cleaner-controller',
  account: ACCOUNT,
  keys: [{ name: 'all' }],
  resync: INTERVAL_MS,
  async reconcile(_key, { list, client, log, now }) {
    for (const object of list(REQUESTS)) {
      const reason = obsolescence(object, now());
      if (!reason) continue;
      const { name } = object.metadata;
      try {
        await client.resource(REQUESTS).delete({ name }, unchanged(object));
        log.info({ name, reason }, 'removed a certificate signing request');
      } catch (error) {
        log.warn({ name, error: (error as Error).message }, 'removing a certificate signing request failed');
      }
    }
  },
});
