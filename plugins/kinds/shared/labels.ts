import { requirementsOf } from '../../../core/model/labelSelector.js';
import { labelValue, qualifiedName } from '../../../core/model/names.js';
import { entriesAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../../core/model/record.js';
import { forbiddenField, invalid, required, type Violation } from '../../../core/model/refusal.js';
import { matchesLabels } from '../../../core/model/selector.js';
import { toViolations } from './violations.js';

/** Keys and values of labels are valid. */
export const validateLabels = (labels: readonly (readonly [string, unknown])[], field: string): Violation[] =>
  labels.flatMap(([key, value]) => [
    ...toViolations(field, key, qualifiedName(key)),
    ...toViolations(field, String(value), labelValue(String(value))),
  ]);

/** Violations of a label selector. */
export function validateSelector(selector: UnknownRecord | undefined, field: string): Violation[] {
  const found = validateLabels(entriesAt(selector, 'matchLabels'), `${field}.matchLabels`);
  for (const [i, term] of recordsAt(selector, 'matchExpressions').entries()) {
    const where = `${field}.matchExpressions[${i}]`;
    const [operator, count] = [stringAt(term, 'operator'), stringsAt(term, 'values').length];
    if (operator === 'In' || operator === 'NotIn') {
      if (count === 0) found.push(required(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (count > 0)
        found.push(
          forbiddenField(`${where}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
    } else found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    found.push(...toViolations(`${where}.key`, stringAt(term, 'key'), qualifiedName(stringAt(term, 'key'))));
    for (const [j, value] of stringsAt(term, 'values').entries()) {
      found.push(...toViolations(`${where}.values[${j}]`, value, labelValue(value)));
    }
  }
  return found;
}

/** Whether a selector has a violation. */
export const isMalformedSelector = (selector: UnknownRecord | undefined): boolean =>
  validateSelector(selector, '').length > 0;

/** Whether a selector has no requirement, and so selects everything. */
export const isEmptySelector = (selector: UnknownRecord | undefined): boolean =>
  entriesAt(selector, 'matchLabels').length === 0 && recordsAt(selector, 'matchExpressions').length === 0;

/** Whether a selector selects objects with these labels. */
export const isSelectedBy = (selector: UnknownRecord | undefined, labels: UnknownRecord): boolean =>
  matchesLabels(requirementsOf(selector), labels as { readonly [key: string]: string });
