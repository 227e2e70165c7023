import { requirementsOf } from '../../../core/model/labelSelector.js';
import { labelValue, qualifiedName } from '../../../core/model/names.js';
import { entriesAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../../core/model/record.js';
import { forbiddenField, invalid, required, tooLong, type Violation } from '../../../core/model/refusal.js';
import { matchesLabels } from '../../../core/model/selector.js';
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
export function validateAnnotations(metadata: unknown, field: string): Violation[] {
  const entries = entriesAt(metadata, 'annotations');
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
export function validateOperands(term: UnknownRecord, field: string): Violation[] {
  const [operator, count] = [stringAt(term, 'operator'), stringsAt(term, 'values').length];
  if ((operator === 'In' || operator === 'NotIn') && count === 0)
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0)
    return [forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

const validateOperator = (term: UnknownRecord, field: string): Violation[] => {
  const operator = stringAt(term, 'operator');
  return OPERATORS.has(operator) ? [] : [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
};

/** Violations of a requirement of a label selector, except for an unknown operator. */
export const validateTerm = (term: UnknownRecord, field: string): Violation[] => [
  ...validateOperands(term, field),
  ...toViolations(`${field}.key`, stringAt(term, 'key'), qualifiedName(stringAt(term, 'key'))),
  ...stringsAt(term, 'values').flatMap((value, i) => toViolations(`${field}.values[${i}]`, value, labelValue(value))),
];

/** Violations of a label selector. */
export const validateSelector = (selector: UnknownRecord | undefined, field: string): Violation[] => [
  ...validateLabels(entriesAt(selector, 'matchLabels'), `${field}.matchLabels`),
  ...recordsAt(selector, 'matchExpressions').flatMap((term, i) => {
    const where = `${field}.matchExpressions[${i}]`;
    return [...validateOperator(term, where), ...validateTerm(term, where)];
  }),
];

/** Whether a selector has a violation. */
export const isMalformedSelector = (selector: UnknownRecord | undefined): boolean =>
  validateSelector(selector, '').length > 0;

/** Whether a selector has no requirements and therefore selects everything. */
export const isEmptySelector = (selector: UnknownRecord | undefined): boolean =>
  entriesAt(selector, 'matchLabels').length === 0 && recordsAt(selector, 'matchExpressions').length === 0;

/** Whether a selector selects objects with these labels. */
export const isSelectedBy = (selector: UnknownRecord | undefined, labels: UnknownRecord): boolean =>
  matchesLabels(requirementsOf(selector), labels as { readonly [key: string]: string });
