const SLASH = 0x2f;

/** A path without the slashes that it ends in. Not by a regular expression: that looks at each run of slashes from each of them, of 60,000 for seconds. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--;
  return path.slice(0, end);
}
