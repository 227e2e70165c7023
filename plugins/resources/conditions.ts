import { list, type Rec } from './record.js';

/** Sets the condition of that type in a list of conditions, replacing an earlier one in place. */
export function setCondition(status: Rec, condition: Rec & { type: string }): void {
  const conditions = list(status, 'conditions');
  const index = conditions.findIndex(c => c.type === condition.type);
  if (index < 0) conditions.push(condition);
  else conditions[index] = condition;
  status.conditions = conditions;
}
