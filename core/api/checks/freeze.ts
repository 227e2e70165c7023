/** Freezes a JSON value and everything in it. A value that is already frozen is assumed to be frozen deeply. */
export function deepFreeze(value: unknown): void {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) open.push(inner);
  }
}
