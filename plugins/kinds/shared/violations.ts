import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { isSemanticallyEqual, numberAt, stringAt, type UnknownRecord } from '../../../core/model/record.js';
import { invalid, Verbatim, notSupported, type Violation } from '../../../core/model/refusal.js';

/** Creates a violation of a value for each message. */
export const toViolations = (field: string, value: unknown, of: readonly string[]): Violation[] =>
  of.map(why => invalid(field, value, why));

/** Validates a string member unless it is empty. */
export const validateIfSet = (
  owner: unknown,
  member: string,
  field: string,
  check: (text: string) => string[],
): Violation[] => {
  const value = stringAt(owner, member);
  return value === '' ? [] : toViolations(field, value, check(value));
};

/** Checks that a name, if set, is a DNS-1123 subdomain. */
export const validateSubdomainIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  validateIfSet(owner, member, field, dns1123Subdomain);

/** Checks that a name, if set, is a DNS-1123 label. */
export const validateLabelIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  validateIfSet(owner, member, field, dns1123Label);

/** Checks that a string member has one of the values. It may be empty unless `needed` is set. */
export function validateOneOf(
  owner: unknown,
  member: string,
  field: string,
  values: readonly string[],
  needed = true,
): Violation[] {
  const value = stringAt(owner, member);
  if ((value === '' && !needed) || values.includes(value)) return [];
  return [notSupported(field, value, values)];
}

/** Checks that a number member, if set, is not negative. */
export const validateNotNegative = (owner: unknown, member: string, field: string): Violation[] => {
  const value = numberAt(owner, member);
  return value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
};

/** The message for a number outside of a range. */
export const rangeText = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

/** Checks that a member has not changed. */
export const validateImmutable = (now: unknown, before: unknown, member: string, field: string): Violation[] => {
  const [a, b] = [(now as UnknownRecord | undefined)?.[member], (before as UnknownRecord | undefined)?.[member]];
  return isSemanticallyEqual(a, b) ? [] : [invalid(field, a, 'field is immutable')];
};

/** Formats a time as Go prints it in messages; the zero time if there is none. */
export function goTimeText(time: string): Verbatim {
  const shown = (time || '0001-01-01T00:00:00Z').replace('T', ' ').replace('Z', '');
  return new Verbatim(`${shown.includes('.') ? shown.replace(/\.?0+$/, '') : shown} +0000 UTC`);
}
