/** `Array.isArray` does not narrow types of lists that are read only. */
export const isList = (value: object): value is readonly string[] => Array.isArray(value);

/** The names in two lists, each once. */
export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0 || a === b) return b;
  return b.length === 0 ? a : [...new Set([...a, ...b])];
}
