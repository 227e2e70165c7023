/** String formats of structural schemas, with the rules of upstream's OpenAPI library. */

type FormatCheck = (text: string) => boolean;

const byPattern =
  (pattern: RegExp): FormatCheck =>
  text =>
    pattern.test(text);

/** An existing date in RFC 3339 (section 5.6, "full-date"). */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

const CLOCK = /^(\d\d):(\d\d):(\d\d)(\.\d+)?(z|[+-]\d\d:\d\d)$/;

/** RFC 3339 (section 5.6, "date-time"), in any letter case. */
function isDateTime(text: string): boolean {
  const [date = '', time = '', more] = text.toLowerCase().split('t');
  const parts = CLOCK.exec(time);
  if (more !== undefined || !parts || !isDate(date)) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

const UNITS = 'ns|nano|nanos|us|µs|micro|micros|ms|milli|millis|s|sec|secs|second|seconds|m|min|mins|minute|minutes|';
const LONG_UNITS = 'h|hr|hour|hours|d|day|days|w|wk|week|weeks|nanosecond|nanoseconds|microsecond|microseconds|';
const DURATION = new RegExp(`^\\s*\\d+\\s*(?:${UNITS}${LONG_UNITS}millisecond|milliseconds)\\s*$`);
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** An email address, optionally with a display name (RFC 5322, section 3.4). */
function isEmail(text: string): boolean {
  const address = /^[^<>]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/.test(address);
}

/** RFC 1034, section 3.5. If there are several labels, the last consists of letters. */
function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  const labels = text.split('.');
  if (
    !labels.every(
      label =>
        label.length <= 63 && /^[a-zA-Z0-9\p{L}\p{S}]([a-zA-Z0-9\p{L}\p{S}-]*[a-zA-Z0-9\p{L}\p{S}])?$/u.test(label),
    )
  )
    return false;
  return labels.length === 1 || /^[a-zA-Z\p{L}]{2,63}$/u.test(labels.at(-1)!);
}

const isIpv4: FormatCheck = text => {
  const parts = text.split('.');
  return parts.length === 4 && parts.every(part => /^\d{1,}$/.test(part) && part.length <= 4 && Number(part) <= 255);
};

/** RFC 4291, section 2.2. */
function isIpv6(text: string): boolean {
  const tail = text.lastIndexOf(':');
  const last = text.slice(tail + 1);
  const plain = last.includes('.') ? (isIpv4(last) ? `${text.slice(0, tail + 1)}0:0` : '') : text;
  const halves = plain.split('::');
  if (plain === '' || halves.length > 2) return false;
  const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')));
  if (!groups.every(group => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  if (more !== undefined || !/^\d{1,3}$/.test(bits)) return false;
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}

/** An absolute URI or an absolute path (RFC 3986). */
const isUri: FormatCheck = text =>
  /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)[^\s<>"\\^`{}|]*$/.test(text) && !/%(?![0-9A-Fa-f]{2})/.test(text);

const digitsOf = (text: string): number[] => Array.from(text, digit => (digit === 'X' ? 10 : Number(digit)));

function isIsbn10(text: string): boolean {
  const plain = text.replace(/[\s-]/g, '');
  return /^\d{9}[\dX]$/.test(plain) && digitsOf(plain).reduce((sum, digit, i) => sum + digit * (10 - i), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = text.replace(/[\s-]/g, '');
  return (
    /^\d{13}$/.test(plain) &&
    digitsOf(plain).reduce((sum, digit, i) => sum + digit * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}

const ISSUED_CARDS = [
  /^4\d{12}(?:\d{3,6})?$/,
  /^5[1-5]\d{14}$/,
  /^(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^6(?:011|5\d\d|4[4-9]\d)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
  /^(?:2131|1800|35\d{3})\d{11}$/,
  /^62\d{14,17}$/,
];

/** ISO/IEC 7812: lengths and prefixes in use, and the Luhn check digit. */
function isCreditCard(text: string): boolean {
  const plain = text.replace(/[^0-9]/g, '');
  const weighted = digitsOf(plain)
    .reverse()
    .map((digit, i) => (i % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2));
  return (
    ISSUED_CARDS.some(pattern => pattern.test(plain)) && weighted.reduce((sum, digit) => sum + digit, 0) % 10 === 0
  );
}

const OCTET = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const RGB = new RegExp(`^rgb\\(${OCTET},${OCTET},${OCTET}\\)$`);

const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['date', isDate],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', text => GO_DURATION.test(text) || DURATION.test(text.toLowerCase())],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  [
    'mac',
    byPattern(
      /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:[0-9a-f]{2}\1){0,2}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4})$/i,
    ),
  ],
  ['uri', isUri],
  ['uuid', byPattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', byPattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', byPattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', byPattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['byte', byPattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['bsonobjectid', byPattern(/^[0-9a-f]{24}$/i)],
  ['creditcard', isCreditCard],
  ['ssn', byPattern(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['isbn', text => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['hexcolor', byPattern(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', byPattern(RGB)],
]);

/** Whether a string has a format. Unknown formats accept every string. */
export const hasFormat = (text: string, format: string): boolean => FORMATS.get(format)?.(text) ?? true;

/** Whether validation knows a format. Unknown formats are ignored. A password may be any string. */
export const isKnownFormat = (format: string): boolean => FORMATS.has(format) || format === 'password';
