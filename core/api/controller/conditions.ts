import type { Time } from '../../model/scalars.js';

/**
 * A condition in the status of an object.
 *
 * @example
 * const ready: Condition = { type: 'Ready', status: 'True', reason: 'Poured', message: 'all cups are poured' };
 */
export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * A new value of a condition, without its time.
 *
 * @example
 * const update: ConditionUpdate = { type: 'Ready', status: 'False', reason: 'NoTea', message: 'there is no tea' };
 */
export type ConditionUpdate = { readonly [Name in 'type' | 'status' | 'reason' | 'message']: string };

/**
 * A time in milliseconds since the epoch as objects have it: in RFC 3339, in whole seconds.
 *
 * @example
 * const lastTransitionTime = timestamp(now());
 */
export const timestamp = (milliseconds: number): Time =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z` as Time;

/**
 * Updates or appends a condition. Its time is set to `now` (RFC 3339) only if its status changes. Returns the same list
 * if nothing changes.
 *
 * @example
 * const conditions = withCondition(order.status?.conditions ?? [], update, timestamp(now()));
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[],
  update: ConditionUpdate,
  now: string,
): readonly (C | (ConditionUpdate & { readonly lastTransitionTime: Time }))[] {
  const { type, status, reason, message } = update;
  const existing = conditions.find(condition => condition.type === type);
  if (existing?.status === status && existing.reason === reason && existing.message === message) return conditions;
  const since = existing?.status === status ? (existing.lastTransitionTime ?? now) : now;
  const next = { type, status, lastTransitionTime: since as Time, reason, message };
  return existing ? conditions.map(condition => (condition === existing ? next : condition)) : [...conditions, next];
}
