/**
 * Removes all trailing characters that are in `chars`. A regular expression would take quadratic time, seconds for a
 * path with 60,000 slashes.
 */
export function withoutTrailing(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t';

/** Removes the blanks and tabs around a value of a header (RFC 9110, 5.5), and no other characters. */
export function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

/** Joins the lines of a text to one line, without the white space around each. */
export const toOneLine = (text: string): string =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .join(' ');
