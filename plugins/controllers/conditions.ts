/** A condition in an object's status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A new value of a condition, without its time. */
export type ConditionUpdate = Required<Omit<Condition, 'lastTransitionTime'>>;

/**
 * Updates or appends a condition. Its time is set to `now` (RFC 3339) only if its status changes. Returns the same list
 * if nothing changes.
 */
export function withCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  now: string,
): readonly Condition[] {
  const { type, status, reason, message } = update;
  const existing = conditions.find(condition => condition.type === type);
  if (existing?.status === status && existing.reason === reason && existing.message === message) return conditions;
  const lastTransitionTime = existing?.status === status ? existing.lastTransitionTime : now;
  const next: Condition = { type, status, lastTransitionTime, reason, message };
  return existing ? conditions.map(condition => (condition === existing ? next : condition)) : [...conditions, next];
}
