import { randomInt } from '../runtime/random.js';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  'with an alphanumeric character';
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
  'and end with an alphanumeric character';
const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower " +
  "case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
  'and end with an alphanumeric character';
const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  'end with an alphanumeric character';

/** Upstream's explanation of a pattern: `text (e.g. 'a',  or 'b', regex used for validation is '…')`. */
export const patternText = (text: string, pattern: string, ...examples: readonly string[]): string =>
  `${text} (e.g. ${examples.map(example => `'${example}'`).join(',  or ')}, regex used for validation is '${pattern}')`;

const tooLongText = (max: number): string => `must be no more than ${max} characters`;

const byteLength = (text: string): number => Buffer.byteLength(text);
const bareSource = (pattern: RegExp): string => pattern.source.replace(/^\^|\$$/g, '').replaceAll('\\/', '/');

function checkText(text: string, max: number, pattern: RegExp, complaint: () => string): string[] {
  const found: string[] = [];
  if (byteLength(text) > max) found.push(tooLongText(max));
  if (!pattern.test(text)) found.push(complaint());
  return found;
}

/** Validates a DNS-1123 label (RFC 1123, section 2.1) of at most 63 bytes. Returns messages. */
export const dns1123Label = (text: string): string[] =>
  // A valid subdomain gets a message about its dots.
  checkText(text, 63, LABEL, () =>
    SUBDOMAIN.test(text) ? 'must not contain dots' : patternText(LABEL_TEXT, bareSource(LABEL), 'my-name', '123-abc'),
  );

/** Validates a DNS-1123 subdomain of at most 253 bytes. Returns messages. */
export const dns1123Subdomain = (text: string): string[] =>
  checkText(text, 253, SUBDOMAIN, () => patternText(SUBDOMAIN_TEXT, bareSource(SUBDOMAIN), 'example.com'));

/** Validates a DNS-1123 subdomain whose first label is `*`. Returns messages. */
export const wildcardSubdomain = (text: string): string[] =>
  checkText(text, 253, WILDCARD, () => patternText(WILDCARD_TEXT, bareSource(WILDCARD), '*.example.com'));

/** Validates a DNS-1035 label (RFC 1035, section 2.3.1) of at most 63 bytes. Returns messages. */
export const dns1035Label = (text: string): string[] =>
  checkText(text, 63, LABEL_1035, () => patternText(LABEL_1035_TEXT, bareSource(LABEL_1035), 'my-name', 'abc-123'));

/** Validates a name as a path segment: not `.` or `..` (unless `prefix`), without `/` and `%`. Returns messages. */
export function pathSegment(name: string, prefix = false): string[] {
  const found: string[] = [];
  if (!prefix && (name === '.' || name === '..')) found.push(`may not be '${name}'`);
  if (name.includes('/')) found.push("may not contain '/'");
  if (name.includes('%')) found.push("may not contain '%'");
  return found;
}

const qualifiedText = (): string => patternText(QUALIFIED_TEXT, bareSource(QUALIFIED), 'MyName', 'my.name', '123-abc');

/** Validates a qualified name (`[prefix/]name`): label and annotation keys, resource names. Returns messages. */
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
  else if (byteLength(name) > 63) found.push(`name part ${tooLongText(63)}`);
  if (!QUALIFIED.test(name)) found.push(`name part ${qualifiedText()}`);
  return found;
}

/** Validates a label value: empty, or a name of at most 63 bytes. Returns messages. */
export const labelValue = (text: string): string[] =>
  checkText(text, 63, VALUE, () => patternText(VALUE_TEXT, bareSource(VALUE), 'MyValue', 'my_value', '12345'));

/** Replaces a trailing dash of a generateName by a letter for validation, because random characters follow it. */
export const maskTrailingDash = (prefix: string): string =>
  prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix;

/** Characters of generated names, without vowels and similar ones, to avoid words and confusion. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
/** Upstream's number: 14 million suffixes for each prefix. */
const RANDOM_LETTERS = 5;
/** The length to which prefixes are cut, so that generated names are valid labels. */
const MAX_BASE = 63 - RANDOM_LETTERS;

/** Generates a name: the prefix (R034), cut if necessary, and five random characters. */
export function randomName(prefix: string): string {
  let suffix = '';
  for (let i = 0; i < RANDOM_LETTERS; i++) suffix += LETTERS[randomInt(LETTERS.length)];
  return prefix.slice(0, MAX_BASE) + suffix;
}
