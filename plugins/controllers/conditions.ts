/** One of the conditions in an object's status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What a controller has found out: a condition but for its time. */
export type Finding = Required<Omit<Condition, 'lastTransitionTime'>>;

/**
 * The conditions with what was found, in its place or at the end; its time (`now`, RFC 3339) moves with its status
 * alone. The same list if it says so already.
 */
export function withCondition(conditions: readonly Condition[], finding: Finding, now: string): readonly Condition[] {
  const { type, status, reason, message } = finding;
  const known = conditions.find(condition => condition.type === type);
  if (known?.status === status && known.reason === reason && known.message === message) return conditions;
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : now;
  const next: Condition = { type, status, lastTransitionTime, reason, message };
  return known ? conditions.map(condition => (condition === known ? next : condition)) : [...conditions, next];
}
