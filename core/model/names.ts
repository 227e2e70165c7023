import { randomInt } from 'node:crypto';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** `text (e.g. 'a',  or 'b', regex used for validation is '…')`: how upstream explains a pattern. */
export const patternText = (text: string, pattern: string, ...examples: readonly string[]): string =>
  `${text} (e.g. ${examples.map(example => `'${example}'`).join(',  or ')}, regex used for validation is '${pattern}')`;

const tooLongText = (most: number): string => `must be no more than ${most} characters`;

const bytes = (text: string): number => Buffer.byteLength(text);
const inner = (pattern: RegExp): string => pattern.source.replace(/^\^|\$$/g, '').replaceAll('\\/', '/');

function check(text: string, most: number, pattern: RegExp, complaint: () => string): string[] {
  const found: string[] = [];
  if (bytes(text) > most) found.push(tooLongText(most));
  if (!pattern.test(text)) found.push(complaint());
  return found;
}

/** Complaints about a DNS-1123 label (RFC 1123, section 2.1): at most 63 bytes. */
export const dns1123Label = (text: string): string[] =>
  // Text that would be a subdomain is told what a label lacks.
  check(text, 63, LABEL, () =>
    SUBDOMAIN.test(text) ? 'must not contain dots' : patternText(LABEL_TEXT, inner(LABEL), 'my-name', '123-abc'),
  );

/** Complaints about a DNS-1123 subdomain: at most 253 bytes. */
export const dns1123Subdomain = (text: string): string[] =>
  check(text, 253, SUBDOMAIN, () => patternText(SUBDOMAIN_TEXT, inner(SUBDOMAIN), 'example.com'));

/** Complaints about a DNS-1035 label (RFC 1035, section 2.3.1): at most 63 bytes, begins with a letter. */
export const dns1035Label = (text: string): string[] =>
  check(text, 63, LABEL_1035, () => patternText(LABEL_1035_TEXT, inner(LABEL_1035), 'my-name', 'abc-123'));

/**
 * Complaints about a name that becomes one segment of a path: no `.`, `..`, `/` and `%`; with `prefix` only the
 * characters count.
 */
export function pathSegment(name: string, prefix = false): string[] {
  const found: string[] = [];
  if (!prefix && (name === '.' || name === '..')) found.push(`may not be '${name}'`);
  if (name.includes('/')) found.push("may not contain '/'");
  if (name.includes('%')) found.push("may not contain '%'");
  return found;
}

const qualifiedText = (): string => patternText(QUALIFIED_TEXT, inner(QUALIFIED), 'MyName', 'my.name', '123-abc');

/** Complaints about a qualified name (`[prefix/]name`): label and annotation keys, resource names. */
export function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  const found: string[] = [];
  if (parts.length > 2)
    return [
      `a qualified name ${qualifiedText()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === '') found.push('prefix part must be non-empty');
    else found.push(...dns1123Subdomain(parts[0]!).map(complaint => `prefix part ${complaint}`));
  }
  if (name === '') found.push('name part must be non-empty');
  else if (bytes(name) > 63) found.push(`name part ${tooLongText(63)}`);
  if (!QUALIFIED.test(name)) found.push(`name part ${qualifiedText()}`);
  return found;
}

/** Complaints about a label's value: empty, or at most 63 bytes of a name. */
export const labelValue = (text: string): string[] =>
  check(text, 63, VALUE, () => patternText(VALUE_TEXT, inner(VALUE), 'MyValue', 'my_value', '12345'));

/** A generateName as name checks see it: a trailing dash is fine because random characters follow. */
export const prefixed = (prefix: string): string =>
  prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix;

/** Letters of generated names: no vowels and no look-alikes, so that no words appear. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const RANDOM_LETTERS = 5;
/** Longest name that a prefix is cut to, so that suffixed names fit in a label. */
const LONGEST_BASE = 63 - RANDOM_LETTERS;

/** A name from `generateName` (spec, "metadata"): the prefix, cut if need be, and five random letters. */
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let i = 0; i < RANDOM_LETTERS; i++) suffix += LETTERS[randomInt(LETTERS.length)];
  return prefix.slice(0, LONGEST_BASE) + suffix;
}
