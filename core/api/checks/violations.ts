import { VIOLATIONS } from '../../limits.js';
import type { Violation } from '../../model/refusal.js';

const isViolation = (value: Partial<Violation> | null | undefined): boolean =>
  typeof value?.reason === 'string' && typeof value.field === 'string' && typeof value.message === 'string';

/** Throws unless a validating function returned violations. */
export function checkViolations(found: readonly Violation[]): readonly Violation[] {
  if (Array.isArray(found) && found.length > VIOLATIONS)
    throw new TypeError(`validate must return at most ${VIOLATIONS} violations`);
  if (Array.isArray(found) && found.every(isViolation)) return found;
  throw new TypeError('validate must return a list of { reason, field, message }, which is empty for a valid object');
}
