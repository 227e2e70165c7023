import { Malformed } from './der.js';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LABEL = 'CERTIFICATE REQUEST';
const BEGINS = /(?<![^\n])-----BEGIN CERTIFICATE REQUEST-----/;
/** White space may follow a line; a line begins with its contents. */
const ONE_BLOCK = /^[\r\n]*-----BEGIN ([^-\r\n]+)-----[ \t]*\r?\n([^-]*)-----END \1-----\s*$/;

/**
 * The contents of the only block of a request in PEM (RFC 7468). Readers of PEM differ about which block they take when
 * there are several, and about what may be beside one: a text with anything but one block without headers, and white
 * space, is refused. Throws Malformed.
 */
export function readRequestPem(text: string): Buffer {
  const [, label, content = ''] = ONE_BLOCK.exec(text) ?? [];
  if (label === undefined && BEGINS.test(text))
    throw new Malformed('must be one PEM block without headers, and nothing beside it');
  const base64 = content.replace(/\s/g, '');
  if (label !== LABEL || !BASE64.test(base64)) throw new Malformed(`PEM block type must be ${LABEL}`);
  return Buffer.from(base64, 'base64');
}
