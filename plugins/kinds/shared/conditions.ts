import type { Condition } from '../../../kinds/meta/v1.js';
import type { FlowSchema, PriorityLevelConfiguration } from '../../../kinds/flowcontrol/v1.js';
import { toNumber } from '../../../core/model/scalars.js';
import { patternText, qualifiedName } from '../../../core/model/names.js';
import { isAbsent } from '../../../core/model/record.js';
import { duplicate, invalid, required, tooLong, type Violation } from '../../../core/model/refusal.js';
import { toViolations, validateOneOf } from './violations.js';

/** Sets a condition. An earlier one of the same type is replaced in place. */
export function setCondition<Condition extends { readonly type: string }>(
  status: { conditions?: Condition[] | null },
  condition: Condition,
): void {
  const conditions = [...(status.conditions ?? [])];
  const index = conditions.findIndex(c => c.type === condition.type);
  if (index < 0) conditions.push(condition);
  else conditions[index] = condition;
  status.conditions = conditions;
}

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';

const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";

const EXAMPLES = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];

const REASON_BYTES = 1024;

const MESSAGE_BYTES = 32 * 1024;

function validateCondition(condition: Condition, field: string): Violation[] {
  const [type, reason] = [condition.type, condition.reason];
  const found = [
    ...toViolations(`${field}.type`, type, qualifiedName(type)),
    ...validateOneOf(condition, 'status', `${field}.status`, ['False', 'True', 'Unknown']),
  ];
  const generation = toNumber(condition.observedGeneration) ?? 0;
  if (generation < 0)
    found.push(invalid(`${field}.observedGeneration`, generation, 'must be greater than or equal to zero'));
  if (isAbsent(condition.lastTransitionTime)) found.push(required(`${field}.lastTransitionTime`, 'must be set'));
  if (reason === '') found.push(required(`${field}.reason`, 'must be set'));
  else if (!new RegExp(`^${REASON}$`).test(reason))
    found.push(invalid(`${field}.reason`, reason, patternText(REASON_TEXT, REASON, ...EXAMPLES)));
  if (Buffer.byteLength(reason) > REASON_BYTES) found.push(tooLong(`${field}.reason`, REASON_BYTES));
  if (Buffer.byteLength(condition.message) > MESSAGE_BYTES) found.push(tooLong(`${field}.message`, MESSAGE_BYTES));
  return found;
}

/** Violations of conditions: types must be unique, and all required members must be set. */
export function validateConditions(conditions: readonly Condition[], field: string): Violation[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, i) => {
    const type = condition.type;
    const twice = seen.has(type) ? [duplicate(`${field}[${i}].type`, type)] : [];
    seen.add(type);
    return [...twice, ...validateCondition(condition, `${field}[${i}]`)];
  });
}

/** Checks that the conditions in a status have types, which are unique. */
export function validateConditionTypes(object: FlowSchema | PriorityLevelConfiguration): Violation[] {
  const seen = new Set<string>();
  return (object.status?.conditions ?? []).flatMap((condition, i) => {
    const [field, type] = [`status.conditions[${i}].type`, condition.type ?? ''];
    const found = seen.has(type) ? [duplicate(field, type)] : [];
    seen.add(type);
    return type === '' ? [...found, required(field, 'must not be empty')] : found;
  });
}
