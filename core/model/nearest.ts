/** The largest edit distance to a name that is suggested for an unknown one. */
const MAX_TYPO_DISTANCE = 3;
/** Longer names are not compared: the time grows with the product of the lengths. */
const LONGEST_NAME = 64;

/**
 * The edit distance of two names: the number of insertions, deletions, replacements and swaps of neighbours that turn
 * `a` into `b`.
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced, isSwapped ? before[j - 2]! + 1 : Infinity));
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** The known name of which `given` is probably a misspelling; undefined if there is none. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  if (given.length >= LONGEST_NAME) return undefined;
  const distances = Array.from(known, name => ({ name, distance: editDistance(name, given) }));
  // In a short name, three edits may replace most letters, so at most half of its letters may be edited.
  const near = distances.filter(({ name, distance }) => distance <= Math.min(MAX_TYPO_DISTANCE, name.length / 2));
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}
