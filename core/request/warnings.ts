import { WARNING_CHARACTERS, WARNINGS_CHARACTERS } from '../limits.js';

/** Control characters and unpaired surrogates, which headers cannot contain. */
const NOT_IN_HEADERS = /[\p{Cc}\p{Cs}]/u;

const toHeader = (text: string): readonly [string, string] => ['warning', `299 - "${text.replace(/[\\"]/g, '\\$&')}"`];

/** Truncates a text between two characters. */
const truncate = (text: string): string =>
  text.length > WARNING_CHARACTERS ? [...text].slice(0, WARNING_CHARACTERS).join('') : text;

/**
 * Warning headers (RFC 7234, section 5.5), each text once. Texts may contain input of clients: those that a header
 * cannot contain are omitted. If the texts are too long together, each is truncated, and the last ones are omitted.
 */
export function warningHeaders(warnings: readonly string[]): (readonly [string, string])[] {
  if (warnings.length === 0) return [];
  const texts = [...new Set(warnings)].filter(text => text !== '' && !NOT_IN_HEADERS.test(text));
  let left = WARNINGS_CHARACTERS;
  if (texts.reduce((sum, text) => sum + text.length, 0) <= left) return texts.map(toHeader);
  return texts
    .map(truncate)
    .filter(text => {
      left -= text.length;
      return left >= 0;
    })
    .map(toHeader);
}
