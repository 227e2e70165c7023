import { Refusal } from '../model/refusal.js';

/** The largest version that can be asked for: more does not fit upstream's 64 bits. */
const LAST_REVISION = 2n ** 64n - 1n;
/** Digits that are read: more cost their square. */
const DIGITS = 100;

/**
 * A resourceVersion sent by a client as a number; `field` is where it stands. Throws 422 for anything else: upstream's
 * text, though there it is a 500.
 */
export function parseRevision(raw: string, field = 'resourceVersion'): number {
  const digits = /^\d+$/.test(raw);
  if (digits && raw.length <= DIGITS && BigInt(raw) <= LAST_REVISION)
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
