import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { isAbsent } from '../../../core/model/record.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import { invalid, Verbatim, notSupported, required, type Violation } from '../../../core/model/refusal.js';

import { isUnchanged } from './values/equality.js';
import { integerIn, type IntegerMember, type Maybe, type MemberOf, textIn, type TextMember } from './values/members.js';

/** The type of the items of a list. */
type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never;

/** Creates a violation of a value for each message. */
export const toViolations = (field: string, value: unknown, of: readonly string[]): Violation[] =>
  of.map(why => invalid(field, value, why));

/** Validates each item of the list in a member; `check` receives the item, its field and its index. */
export const validateEach = <T extends object, Name extends MemberOf<T, readonly unknown[]>>(
  owner: Maybe<T>,
  member: Name,
  field: string,
  check: (item: ItemOf<T[Name]>, field: string, index: number) => readonly Violation[],
): Violation[] => {
  const items = (owner?.[member] ?? []) as readonly ItemOf<T[Name]>[];
  return items.flatMap((item, i) => check(item, `${field}[${i}]`, i));
};

/** Validates a string member even if it is empty. */
export const validateText = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
  check: (text: string) => string[],
): Violation[] => toViolations(field, textIn(owner, member), check(textIn(owner, member)));

/** Checks that a string member is set; then validates it. */
export const validateRequired = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
  check: (text: string) => string[] = () => [],
): Violation[] => (textIn(owner, member) === '' ? [required(field)] : validateText(owner, member, field, check));

/** Validates a string member that is present, even if it is empty. */
export const validatePresent = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
  check: (text: string) => string[],
): Violation[] => (isAbsent(owner?.[member]) ? [] : validateText(owner, member, field, check));

/** Validates a string member unless it is empty. */
export const validateIfSet = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
  check: (text: string) => string[],
): Violation[] => {
  const value = textIn(owner, member);
  return value === '' ? [] : toViolations(field, value, check(value));
};

/** Checks that a name, if set, is a DNS-1123 subdomain. */
export const validateSubdomainIfSet = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
): Violation[] => validateIfSet(owner, member, field, dns1123Subdomain);

/** Checks that a name, if set, is a DNS-1123 label. */
export const validateLabelIfSet = <T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
): Violation[] => validateIfSet(owner, member, field, dns1123Label);

/** Checks that a string member has one of the values. It may be empty unless `needed` is set. */
export function validateOneOf<T extends object>(
  owner: Maybe<T>,
  member: TextMember<T>,
  field: string,
  values: readonly string[],
  needed = true,
): Violation[] {
  const value = textIn(owner, member);
  if ((value === '' && !needed) || values.includes(value)) return [];
  return [notSupported(field, value, values)];
}

/** Checks that a number member, if set, is not negative. */
export const validateNotNegative = <T extends object>(
  owner: Maybe<T>,
  member: IntegerMember<T>,
  field: string,
): Violation[] => {
  const value = integerIn(owner, member);
  return value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
};

/** The message for a number outside of a range. */
export const rangeText = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

/** Checks that a number member, if set, is in a range. */
export const validateRange = <T extends object>(
  owner: Maybe<T>,
  member: IntegerMember<T>,
  field: string,
  low: number,
  high: number,
): Violation[] => {
  const value = integerIn(owner, member);
  return value === undefined || (value >= low && value <= high) ? [] : [invalid(field, value, rangeText(low, high))];
};

/** Checks that a member has not changed. In messages, a string that is absent now is an empty one. */
export const validateImmutable = <T extends object>(
  now: Maybe<T>,
  before: Maybe<T>,
  member: keyof T & string,
  field: string,
): Violation[] => {
  const [a, b] = [now?.[member], before?.[member]];
  return isUnchanged(a, b, member) ? [] : [invalid(field, a ?? (typeof b === 'string' ? '' : a), 'field is immutable')];
};

/** Formats a quantity as Go prints it in messages. */
export const goQuantity = (text: unknown): Verbatim =>
  new Verbatim(`resource.Quantity{s:${JSON.stringify(String(text))}}`);

/** Formats a time as Go prints it in messages; the zero time if there is none. */
export function goTimeText(time: string): Verbatim {
  const shown = (time || '0001-01-01T00:00:00Z').replace('T', ' ').replace('Z', '');
  return new Verbatim(`${shown.includes('.') ? withoutTrailing(withoutTrailing(shown, '0'), '.') : shown} +0000 UTC`);
}
