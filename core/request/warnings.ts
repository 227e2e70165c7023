import { WARNING_CHARACTERS, WARNINGS_CHARACTERS } from '../limits.js';

/** Control characters and unpaired surrogates, which headers cannot contain. */
const NOT_IN_HEADERS = /[\p{Cc}\p{Cs}]/u;

const toHeader = (text: string): readonly [string, string] => ['warning', `299 - "${text.replace(/[\\"]/g, '\\$&')}"`];

/** Truncates a text between two characters. */
const truncate = (text: string): string =>
  text.length > WARNING_CHARACTERS ? [...text].slice(0, WARNING_CHARACTERS).join('') : text;

/**
 * Warning headers (RFC 7234, section 5.5), each text once. Texts may contain input of clients: those that a header
 * cannot contain are omitted. Upstream limits their length: if the texts are too long together, each is truncated, and
 * those that follow the one that exceeds the limit are omitted.
 */
export function warningHeaders(warnings: readonly string[]): (readonly [string, string])[] {
  if (warnings.length === 0) return [];
  let written: string[] = [];
  let characters = 0;
  let isTruncating = false;
  for (const text of new Set(warnings)) {
    if (isTruncating && characters >= WARNINGS_CHARACTERS) break;
    if (text === '' || NOT_IN_HEADERS.test(text)) continue;
    written.push(isTruncating ? truncate(text) : text);
    characters += written.at(-1)!.length;
    if (isTruncating || characters <= WARNINGS_CHARACTERS) continue;
    isTruncating = true;
    written = written.map(truncate);
    characters = written.reduce((sum, one) => sum + one.length, 0);
  }
  return written.map(toHeader);
}

/** The texts of the warnings in the headers of an answer. */
export const warningTexts = (headers: readonly (readonly [string, string])[]): readonly string[] =>
  headers
    .filter(([name]) => name === 'warning')
    .map(([, value]) => value.slice('299 - "'.length, -1).replace(/\\([\\"])/g, '$1'));
