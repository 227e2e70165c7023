import { Refusal } from '../model/refusal.js';

/** The largest version that clients may send. Upstream's versions have 64 bits. */
const MAX_REVISION = 2n ** 64n - 1n;
/** The largest number of digits, because parsing takes quadratic time. */
const MAX_DIGITS = 100;

/**
 * Parses a resourceVersion of a client. `field` is its name in messages. Throws 422 if it is invalid, with upstream's
 * message. (Upstream answers 500.)
 */
export function parseRevision(raw: string, field = 'resourceVersion'): number {
  const digits = /^\d+$/.test(raw);
  if (digits && raw.length <= MAX_DIGITS && BigInt(raw) <= MAX_REVISION)
    return Math.min(Number(raw), Number.MAX_SAFE_INTEGER);
  const quoted = JSON.stringify(raw);
  const why = digits ? 'value out of range' : 'invalid syntax';
  throw new Refusal(
    'Invalid',
    `${field}: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
    undefined,
    422,
  );
}
