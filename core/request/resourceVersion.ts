import { Refusal } from '../model/refusal.js';

/** The largest version that a client may send: upstream's have 64 bits. */
const MAX_REVISION = 2n ** 64n - 1n;
/** The largest number of digits: reading them takes time with their square. */
const MAX_DIGITS = 100;

/**
 * The resourceVersion that a client has sent, as a number. Throws 422 for one that is none, with upstream's text (which
 * answers 500); `field` says where it was sent.
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
