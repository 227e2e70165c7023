import { requirementsOf } from '../../../core/model/labelSelector.js';
import { matchesLabels } from '../../../core/model/selector.js';
import { isIP } from 'node:net';
import { dns1123Label, dns1123Subdomain, labelValue, patternText, qualifiedName } from '../../../core/model/names.js';
import {
  forbiddenField,
  invalid,
  Literal,
  notSupported,
  required,
  type Violation,
} from '../../../core/model/refusal.js';
import { absent, entries, list, num, type Rec, strings, text } from '../record.js';

/** One violation per complaint about a value. */
export const complaints = (field: string, value: unknown, of: readonly string[]): Violation[] =>
  of.map(why => invalid(field, value, why));

/** Complaints about a string member, if it is set. */
export const ifSet = (
  owner: unknown,
  member: string,
  field: string,
  check: (text: string) => string[],
): Violation[] => {
  const value = text(owner, member);
  return value === '' ? [] : complaints(field, value, check(value));
};

/** A member must be one of the values; an absent one only counts where `needed`. */
export function oneOf(
  owner: unknown,
  member: string,
  field: string,
  values: readonly string[],
  needed = true,
): Violation[] {
  const value = text(owner, member);
  if ((value === '' && !needed) || values.includes(value)) return [];
  return [notSupported(field, value, values)];
}

/** A number member, if it is set, must not be negative. */
export const notNegative = (owner: unknown, member: string, field: string): Violation[] => {
  const value = num(owner, member);
  return value !== undefined && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
};

/** Text for numbers outside a range. */
export const between = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

/** A user or group id, if set. */
export const userId = (owner: unknown, member: string, field: string): Violation[] => {
  const value = num(owner, member);
  return value !== undefined && (value < 0 || value > 2147483647)
    ? [invalid(field, value, between(0, 2147483647))]
    : [];
};

/** Complaints about an IP address. */
export const ipText = (value: string): string[] =>
  isIP(value) === 0 ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];

/** Complaints about a port number. */
export const portNumber = (port: number | undefined): string[] =>
  port === undefined || port < 1 || port > 65535 ? [between(1, 65535)] : [];

/** Complaints about a port's name (RFC 6335, section 5.1). */
export function portName(name: string): string[] {
  const found: string[] = [];
  if (name.length > 15) found.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) found.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) found.push('must contain at least one letter (a-z)');
  if (name.includes('--')) found.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) found.push('must not begin or end with a hyphen');
  return found;
}

/** A port by number or by name. */
export const portOrName = (owner: unknown, member: string, field: string): Violation[] => {
  const value = (owner as Rec | undefined)?.[member];
  return typeof value === 'string'
    ? complaints(field, value, portName(value))
    : complaints(field, value ?? 0, portNumber(num(owner, member)));
};

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_TEXT = patternText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** Complaints about a key that may become the name of a file. */
export function configKey(key: string): string[] {
  const found: string[] = [];
  if (Buffer.byteLength(key) > 253) found.push('must be no more than 253 characters');
  if (!KEY.test(key)) found.push(KEY_TEXT);
  if (key === '.' || key === '..') found.push(`must not be '${key}'`);
  else if (key.startsWith('..')) found.push("must not start with '..'");
  return found;
}

/** Keys and values of labels. */
export const labelViolations = (labels: readonly (readonly [string, unknown])[], field: string): Violation[] =>
  labels.flatMap(([key, value]) => [
    ...complaints(field, key, qualifiedName(key)),
    ...complaints(field, String(value), labelValue(String(value))),
  ]);

/** What is wrong with a label selector. */
export function selectorViolations(selector: Rec | undefined, field: string): Violation[] {
  const found = labelViolations(entries(selector, 'matchLabels'), `${field}.matchLabels`);
  for (const [i, term] of list(selector, 'matchExpressions').entries()) {
    const where = `${field}.matchExpressions[${i}]`;
    const [operator, count] = [text(term, 'operator'), strings(term, 'values').length];
    if (operator === 'In' || operator === 'NotIn') {
      if (count === 0) found.push(required(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (count > 0)
        found.push(
          forbiddenField(`${where}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
    } else found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    found.push(...complaints(`${where}.key`, text(term, 'key'), qualifiedName(text(term, 'key'))));
    for (const [j, value] of strings(term, 'values').entries()) {
      found.push(...complaints(`${where}.values[${j}]`, value, labelValue(value)));
    }
  }
  return found;
}

/** True if a selector has a requirement that can match nothing because it is malformed. */
export const selectorUnreadable = (selector: Rec | undefined): boolean => selectorViolations(selector, '').length > 0;

/** True if a selector says nothing, and so selects everything. */
export const selectsAll = (selector: Rec | undefined): boolean =>
  entries(selector, 'matchLabels').length === 0 && list(selector, 'matchExpressions').length === 0;

/** True if labels satisfy a selector. */
export const selects = (selector: Rec | undefined, labels: Rec): boolean =>
  matchesLabels(requirementsOf(selector), labels as { readonly [key: string]: string });

/** How messages show a value that is a number or a text. */
export const intOrString = (value: unknown): Literal =>
  typeof value === 'string'
    ? new Literal(`intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}`)
    : new Literal(`intstr.IntOrString{Type:0, IntVal:${Number(value ?? 0)}, StrVal:""}`);

/** Percentage or number, not negative, at most 100 %. */
export function intOrPercent(owner: unknown, member: string, field: string): Violation[] {
  const value = (owner as Rec | undefined)?.[member];
  if (absent(value)) return [];
  if (typeof value === 'number') return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
  if (!/^[0-9]+%$/.test(String(value))) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalid(field, intOrString(value), why)];
  }
  return [];
}

/** Percentages above 100 are refused where more than all makes no sense. */
export const atMostAll = (owner: unknown, member: string, field: string): Violation[] => {
  const value = (owner as Rec | undefined)?.[member];
  return typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100
    ? [invalid(field, intOrString(value), 'must not be greater than 100%')]
    : [];
};

/** A reference to an object by a name that must be there and be a subdomain. */
export const subdomainIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  ifSet(owner, member, field, dns1123Subdomain);
/** As above for labels. */
export const labelIfSet = (owner: unknown, member: string, field: string): Violation[] =>
  ifSet(owner, member, field, dns1123Label);

/** How messages show a time, the zero time where there is none: as Go prints one. */
export function shownTime(time: string): Literal {
  const shown = (time || '0001-01-01T00:00:00Z').replace('T', ' ').replace('Z', '');
  return new Literal(`${shown.includes('.') ? shown.replace(/\.?0+$/, '') : shown} +0000 UTC`);
}
