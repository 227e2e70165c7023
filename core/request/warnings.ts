import { WARNING_CHARACTERS, WARNINGS_CHARACTERS } from '../limits.js';

/** Control characters and halves of characters: a text with any of them is not sent. */
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u;

const header = (text: string): readonly [string, string] => ['warning', `299 - "${text.replace(/[\\"]/g, '\\$&')}"`];

/** At most so many characters, none of them cut in two. */
const cut = (text: string): string =>
  text.length > WARNING_CHARACTERS ? [...text].slice(0, WARNING_CHARACTERS).join('') : text;

/**
 * Headers of warnings (RFC 7234, section 5.5), each text once. Texts may repeat what a client sent: those that cannot
 * stand in a header are left out; where all of them are too long, each is cut, and what is still too much is left out.
 */
export function warningHeaders(warnings: readonly string[]): (readonly [string, string])[] {
  if (warnings.length === 0) return [];
  const texts = [...new Set(warnings)].filter(text => text !== '' && !UNSENDABLE.test(text));
  let left = WARNINGS_CHARACTERS;
  if (texts.reduce((sum, text) => sum + text.length, 0) <= left) return texts.map(header);
  return texts
    .map(cut)
    .filter(text => {
      left -= text.length;
      return left >= 0;
    })
    .map(header);
}
