/**
 * Removes all trailing characters `char`. A regular expression would take quadratic time, seconds for a path with
 * 60,000 slashes.
 */
export function withoutTrailing(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
