import type { ObjectMeta } from '../../../core/model/object.js';
import type { LabelSelector, LabelSelectorRequirement } from '../../../kinds/meta/v1.js';
import { requirementsOf } from '../../../core/model/selectors/labelSelector.js';
import { labelValue, qualifiedName } from '../../../core/model/names.js';
import { forbiddenField, invalid, required, tooLong, type Violation } from '../../../core/model/refusal.js';
import { matchesLabels } from '../../../core/model/selectors/selector.js';
import { toViolations } from './violations.js';

/** Checks the keys and values of labels. */
export const validateLabels = (labels: readonly (readonly [string, unknown])[], field: string): Violation[] =>
  labels.flatMap(([key, value]) => [
    ...toViolations(field, key, qualifiedName(key)),
    ...toViolations(field, String(value), labelValue(String(value))),
  ]);

/** The largest size of all annotations of an object, in bytes. */
const ANNOTATIONS_BYTES = 256 * 1024;

/** Checks the annotations in metadata that is not that of a stored object. */
export function validateAnnotations(metadata: ObjectMeta, field: string): Violation[] {
  const entries = Object.entries(metadata.annotations ?? {});
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return [
    ...entries.flatMap(([key]) => toViolations(field, key, qualifiedName(key.toLowerCase()))),
    ...(size > ANNOTATIONS_BYTES ? [tooLong(field, ANNOTATIONS_BYTES)] : []),
  ];
}

/** Whether the values of a requirement are valid for its operator. True for unknown operators. */
export function validateOperands(term: LabelSelectorRequirement, field: string): Violation[] {
  const [operator, count] = [term.operator, (term.values ?? []).length];
  if ((operator === 'In' || operator === 'NotIn') && count === 0)
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0)
    return [forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

const validateOperator = (term: LabelSelectorRequirement, field: string): Violation[] => {
  const operator = term.operator;
  return OPERATORS.has(operator) ? [] : [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
};

/** Violations of a requirement of a label selector, except for an unknown operator. */
export const validateTerm = (term: LabelSelectorRequirement, field: string): Violation[] => [
  ...validateOperands(term, field),
  ...toViolations(`${field}.key`, term.key, qualifiedName(term.key)),
  ...(term.values ?? []).flatMap((value, i) => toViolations(`${field}.values[${i}]`, value, labelValue(value))),
];

/** Violations of a label selector. */
export const validateSelector = (selector: LabelSelector | undefined, field: string): Violation[] => [
  ...validateLabels(Object.entries(selector?.matchLabels ?? {}), `${field}.matchLabels`),
  ...(selector?.matchExpressions ?? []).flatMap((term, i) => {
    const where = `${field}.matchExpressions[${i}]`;
    return [...validateOperator(term, where), ...validateTerm(term, where)];
  }),
];

/** Whether a selector has a violation. */
export const isMalformedSelector = (selector: LabelSelector): boolean => validateSelector(selector, '').length > 0;

/** Whether a selector has no requirements and therefore selects everything. */
export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.entries(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;

/** Whether a selector selects objects with these labels. */
export const isSelectedBy = (selector: LabelSelector, labels: { [key: string]: string }): boolean =>
  matchesLabels(requirementsOf(selector), labels as { readonly [key: string]: string });
