import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { isSemanticallyEqual, numberAt, stringAt, type UnknownRecord } from '../../../core/model/record.js';
import { invalid, Literal, notSupported, type Violation } from '../../../core/model/refusal.js';

/** One violation per complaint about a value. */
export const toViolations = (field: string, value: unknown, of: readonly string[]): Violation[] =>
  of.map(why => invalid(field, value, why));

/** Complaints about a string member, if it is set. */
export const validateIfSet = (
  owner: unknown,
  member: string,
  field: string,
  check: (text: string) => string[],
): Violation[] => {
  const value = stringAt(owner, member);
  return value === '' ? [] : toViolations(field, value, check(value));
};

/** A reference to an object by a name that must be there and be a subdomain. */
export const validateSubdomainIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  validateIfSet(owner, member, field, dns1123Subdomain);

/** As above for labels. */
export const validateLabelIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  validateIfSet(owner, member, field, dns1123Label);

/** A member must be one of the values; an absent one only counts where `needed`. */
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

/** A number member, if it is set, must not be negative. */
export const validateNotNegative = (owner: unknown, member: string, field: string): Violation[] => {
  const value = numberAt(owner, member);
  return value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
};

/** Text for numbers outside a range. */
export const rangeText = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

/** A member that may not change. */
export const validateImmutable = (now: unknown, before: unknown, member: string, field: string): Violation[] => {
  const [a, b] = [(now as UnknownRecord | undefined)?.[member], (before as UnknownRecord | undefined)?.[member]];
  return isSemanticallyEqual(a, b) ? [] : [invalid(field, a, 'field is immutable')];
};

/** How messages show a time, the zero time where there is none: as Go prints one. */
export function goTimeText(time: string): Literal {
  const shown = (time || '0001-01-01T00:00:00Z').replace('T', ' ').replace('Z', '');
  return new Literal(`${shown.includes('.') ? shown.replace(/\.?0+$/, '') : shown} +0000 UTC`);
}
