/** Named formats: the server's checks of names and values. */
import { declare, declareGlobal } from '../check/declarations.js';
import { goQuote } from '../../model/text/quote.js';
import type { Library } from '../library.js';
import { parseDate } from '../evaluate/time.js';
import { ArrayList, Opaque, Optional, type Value } from '../evaluate/values.js';
import { decodeBase64 } from './encoders.js';
import { parseRequestUri } from './url.js';

const NAME = 'kubernetes.NamedFormat';

/** A format; `validate` returns the reasons why a text does not match. */
class NamedFormat extends Opaque {
  readonly typeName = NAME;
  constructor(
    readonly name: string,
    readonly validate: (text: string) => readonly string[],
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.name === this.name;
  }
}

const tooLong = (n: number): string => `must be no more than ${n} characters`;
/** A check of length and pattern. */
const lengthAndPattern =
  (max: number, pattern: RegExp, message: string) =>
  (text: string): string[] => [
    ...(Buffer.byteLength(text) > max ? [tooLong(max)] : []),
    ...(pattern.test(text) ? [] : [message]),
  ];

const SUBDOMAIN_FORM = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SIMPLE_LABEL = lengthAndPattern(
  63,
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
);
/** A subdomain with dots gets a message about the dots. */
const LABEL = (text: string): string[] =>
  text.includes('.') && SUBDOMAIN_FORM.test(text)
    ? [...(text.length > 63 ? [tooLong(63)] : []), 'must not contain dots']
    : SIMPLE_LABEL(text);
const SUBDOMAIN = lengthAndPattern(
  253,
  SUBDOMAIN_FORM,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
);
const LABEL_1035 = lengthAndPattern(
  63,
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
    "'[a-z]([-a-z0-9]*[a-z0-9])?')",
);
const LABEL_VALUE = lengthAndPattern(
  63,
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
);
const NAME_PART =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  const out: string[] = [];
  if (parts.length > 2)
    return [`a qualified name ${NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === '') out.push('prefix part must be non-empty');
    else out.push(...SUBDOMAIN(parts[0]!).map(m => `prefix part ${m}`));
  }
  if (name === '') out.push('name part must be non-empty');
  else if (name.length > 63) out.push(`name part ${tooLong(63)}`);
  if (!/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) out.push(`name part ${NAME_PART}`);
  return out;
}

/** A check of name prefixes, which may end in a dash. Upstream replaces the dash and the character before it by `a`. */
const allowDashAtEnd =
  (check: (text: string) => string[]) =>
  (text: string): string[] =>
    check(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -2)}a` : text);
const predicate =
  (ok: (text: string) => boolean, message: string) =>
  (text: string): string[] =>
    ok(text) ? [] : [message];

const uri = (text: string): string[] => {
  const made = parseRequestUri(text);
  return typeof made === 'string' ? [`parse ${goQuote(text)}: ${made}`] : [];
};

const TIME_OF_DAY = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|([+-]\d{2}:\d{2}))$/;
/** Whether the text is a date and a time separated by `t` or `T`. The value of the zone is not checked. */
function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  const m = time === undefined ? null : TIME_OF_DAY.exec(time);
  return m !== null && parseDate(date!) !== undefined && m[1]! <= '23' && m[2]! <= '59' && m[3]! <= '59';
}

const FORMATS = new Map<string, NamedFormat>(
  (
    [
      ['dns1123Label', LABEL],
      ['dns1123Subdomain', SUBDOMAIN],
      ['dns1035Label', LABEL_1035],
      ['qualifiedName', qualifiedName],
      ['dns1123LabelPrefix', allowDashAtEnd(LABEL)],
      ['dns1123SubdomainPrefix', allowDashAtEnd(SUBDOMAIN)],
      ['dns1035LabelPrefix', allowDashAtEnd(LABEL_1035)],
      ['labelValue', LABEL_VALUE],
      ['uri', uri],
      [
        'uuid',
        predicate(
          t => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(t),
          'does not match the UUID format',
        ),
      ],
      ['byte', predicate(t => t !== '' && t.length % 4 === 0 && decodeBase64(t) !== undefined, 'invalid base64')],
      ['date', predicate(t => parseDate(t) !== undefined, 'invalid date')],
      ['datetime', predicate(isDateTime, 'invalid datetime')],
    ] as const
  ).map(([name, validate]) => [name, new NamedFormat(name, validate)]),
);

function validate(format: Value, text: Value, _c: Value, m: { traverse(n: number): void }): Value {
  m.traverse((text as string).length * 5);
  const reasons = (format as NamedFormat).validate(text as string);
  return reasons.length ? new Optional(new ArrayList([...reasons])) : Optional.none;
}

/** The format library. */
export const FORMAT: Library = {
  name: 'format',
  types: [NAME],
  functions: [
    declareGlobal(`format.named(string): optional(${NAME})`, v => {
      const found = FORMATS.get(v as string);
      return found ? new Optional(found) : Optional.none;
    }),
    declare(`${NAME}.validate(string): optional(list(string))`, validate),
    ...Array.from(FORMATS, ([name, value]) => declareGlobal(`format.${name}(): ${NAME}`, () => value)),
  ],
};
