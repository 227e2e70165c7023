/** For each value, whether an equal one precedes it. Takes linear time, however many there are. */
export function findRepeated(values: readonly (string | undefined)[]): readonly boolean[] {
  const seen = new Set<string | undefined>();
  return values.map(value => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated;
  });
}
