/** Characters that values of headers must not contain (RFC 9110, 5.5). */
const NOT_IN_HEADERS = /[^\t\x20-\xff]/;
/** Names of headers in lower case (RFC 9110, 5.1). */
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** Whether a value can be that of a header. */
export const isHeaderValue = (value: unknown): boolean => typeof value === 'string' && !NOT_IN_HEADERS.test(value);

/** Whether a name and a value are those of a header, with the name in lower case. */
export const isHeader = (name: unknown, value: unknown): boolean =>
  typeof name === 'string' && HEADER_NAME.test(name) && isHeaderValue(value);
