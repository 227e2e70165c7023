/**
 * A text without the characters `char` that it ends in. Not by a regular expression: that looks at each run of them
 * from each of them, which takes seconds for a path of 60,000 slashes.
 */
export function withoutTrailing(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
