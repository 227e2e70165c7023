/** A duration in its two greatest units: `3 h 12 min`, `45 s`. */
export function formatAge(seconds: number): string {
  const units: readonly (readonly [name: string, seconds: number])[] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ];
  const whole = Math.max(0, Math.floor(seconds));
  const at = units.findIndex(([, size]) => whole >= size);
  if (at < 0) return '0 s';
  const [first, second] = units.slice(at, at + 2);
  const text = `${Math.floor(whole / first![1])} ${first![0]}`;
  const rest = second && Math.floor((whole % first![1]) / second[1]);
  return rest ? `${text} ${rest} ${second[0]}` : text;
}

/** A duration in milliseconds, with three digits. */
export function formatMilliseconds(milliseconds: number): string {
  const digits = milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
  return `${milliseconds.toFixed(digits)} ms`;
}
