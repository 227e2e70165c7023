import { Malformed } from './der.js';

/** A block of PEM (RFC 7468). */
export interface PemBlock {
  readonly label: string;
  /** Whether it has headers (RFC 1421). */
  readonly hasHeaders: boolean;
  /** The decoded contents; empty for a block with headers. */
  readonly bytes: Buffer;
}

/** A block from the beginning of its line on: two labels, which must be the same, with the content between them. */
const BLOCK = /^-----BEGIN ([^-\r\n]+)-----[ \t]*\r?\n([^-]*)-----END ([^-\r\n]+)-----[ \t]*(?:\r?\n|$)/;
const BEGIN = '-----BEGIN ';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of base64, which may contain white space; undefined for anything else. */
function readBase64(text: string): Buffer | undefined {
  const base64 = text.replace(/\s/g, '');
  return BASE64.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

interface Block {
  readonly label: string;
  readonly content: string;
}

function* blocksIn(text: string): Generator<Block> {
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    const next = text.indexOf(BEGIN, at + BEGIN.length);
    // A block ends before the next one begins, so that no part of the text is read twice.
    const block =
      at === 0 || text[at - 1] === '\n' ? blockAt(text.slice(at, next < 0 ? text.length : next)) : undefined;
    if (block) yield block;
    at = next;
  }
}

function blockAt(text: string): Block | undefined {
  const [, label, content = '', end] = BLOCK.exec(text) ?? [];
  return label !== undefined && label === end ? { label, content } : undefined;
}

/**
 * Returns the blocks of a text: each begins and ends a line. Text outside of them is ignored. So are blocks whose
 * contents are not base64, which upstream skips.
 */
export function pemBlocks(text: string): readonly PemBlock[] {
  return Array.from(blocksIn(text)).flatMap(({ label, content }) => {
    // Base64 contains no colon, and every header contains one.
    const hasHeaders = content.includes(':');
    const bytes = readBase64(hasHeaders ? '' : content);
    return bytes ? [{ label, hasHeaders, bytes }] : [];
  });
}

const LABEL = 'CERTIFICATE REQUEST';
const BEGINS = /(?:^|\n)-----BEGIN CERTIFICATE REQUEST-----/;
/** White space may follow a line; a line begins with its contents. */
const ONE_BLOCK = /^[\r\n]*-----BEGIN ([^-\r\n]+)-----[ \t]*\r?\n([^-]*)-----END ([^-\r\n]+)-----\s*$/;

/**
 * The contents of the only block of a request in PEM (RFC 7468). Implementations differ about which of several blocks
 * they use, and about the text that may surround one. So a text is refused unless it has one block without headers and
 * otherwise only white space. Throws Malformed.
 */
export function readRequestPem(text: string): Buffer {
  const [, begin, content = '', end] = ONE_BLOCK.exec(text) ?? [];
  const label = begin === end ? begin : undefined;
  if (label === undefined && BEGINS.test(text))
    throw new Malformed('must be one PEM block without headers, and nothing beside it');
  const bytes = label === LABEL ? readBase64(content) : undefined;
  if (!bytes) throw new Malformed(`PEM block type must be ${LABEL}`);
  return bytes;
}
