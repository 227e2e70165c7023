import type { LabelSelectorRequirement } from '../../../../kinds/meta/v1.js';
import type { LabelSelectorAttributes, FieldSelectorAttributes } from '../../../../kinds/authorization/v1.js';
import { qualifiedName, labelValue } from '../../../../core/model/names.js';
import { Refusal } from '../../../../core/model/refusal.js';
import type { Requirement, Selector } from '../../../../core/model/selectors/selector.js';
import { parseFieldSelector, parseLabelSelector } from '../../../../core/model/selectors/selectorSyntax.js';

/**
 * A selector of a review as far as it can be read. `unread` says that requirements were left out, which makes the
 * question broader; it is empty if none were.
 */
export interface ReadSelector {
  readonly selector?: Selector;
  readonly unread: '' | 'ignored' | 'partially ignored';
}

type ReadTerm = (term: LabelSelectorRequirement) => Requirement | undefined;

const LABEL_OPERATORS: ReadonlyMap<string, Requirement['operator']> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

const labelTerm: ReadTerm = term => {
  const [key, operator, values] = [term.key, LABEL_OPERATORS.get(term.operator), term.values ?? []];
  const isReadable = qualifiedName(key).length === 0 && values.every(value => labelValue(value).length === 0);
  return operator && isReadable ? { key, operator, values } : undefined;
};

const FIELD_OPERATORS: ReadonlyMap<string, Requirement['operator']> = new Map([
  ['In', '='],
  ['NotIn', '!='],
]);

/** Field selectors compare with one value. */
const fieldTerm: ReadTerm = term => {
  const operator = FIELD_OPERATORS.get(term.operator);
  const values = term.values ?? [];
  return operator && values.length === 1 ? { key: term.key, operator, values } : undefined;
};

function readText(text: string, parse: (text: string) => Selector): ReadSelector {
  try {
    return { selector: parse(text), unread: '' };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return { unread: 'ignored' };
  }
}

function read(
  given: FieldSelectorAttributes | LabelSelectorAttributes | undefined,
  parse: (text: string) => Selector,
  readTerm: ReadTerm,
): ReadSelector {
  const terms = given?.requirements ?? [];
  const text = given?.rawSelector ?? '';
  if (terms.length === 0) return text === '' ? { unread: '' } : readText(text, parse);
  const selector = terms.flatMap(term => readTerm(term) ?? []);
  if (selector.length === terms.length) return { selector, unread: '' };
  return selector.length === 0 ? { unread: 'ignored' } : { selector, unread: 'partially ignored' };
}

/** Reads the field selector of a review. */
export const readFieldSelector = (given: FieldSelectorAttributes | undefined): ReadSelector =>
  read(given, parseFieldSelector, fieldTerm);

/** Reads the label selector of a review. */
export const readLabelSelector = (given: LabelSelectorAttributes | undefined): ReadSelector =>
  read(given, parseLabelSelector, labelTerm);
