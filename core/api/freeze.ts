/** Freezes a JSON value and everything in it. What is frozen already is taken to be frozen throughout. */
export function deepFreeze(value: unknown): void {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) open.push(inner);
  }
}
