import type { Requirement, Selector } from './selector.js';

/** A label selector as objects hold it (upstream LabelSelector); nothing of it need be there. */
interface LabelSelector {
  readonly matchLabels?: { readonly [key: string]: string };
  readonly matchExpressions?: readonly LabelExpression[];
}

/** One of its expressions. */
interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const OPERATORS: ReadonlyMap<string, Requirement['operator']> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** The requirements that the selector of an object stands for; an operator that there is not is met by nothing. */
export function requirementsOf(selector: object = {}): Selector {
  const { matchLabels, matchExpressions } = selector as LabelSelector;
  return [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] }) as const),
    ...(matchExpressions ?? []).map(({ key, operator, values }) => {
      const known = OPERATORS.get(operator);
      return { key, operator: known ?? 'in', values: known ? (values ?? []) : [] } as const;
    }),
  ];
}

function termText({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  return operator === '=' ? `${key}=${values[0]}` : `${key} ${operator} (${[...values].sort().join(',')})`;
}

/**
 * The selector of an object as the text that clients put into `labelSelector` (spec, "Scale": status.selector), terms
 * in the order of their keys.
 */
export const labelSelectorText = (selector?: object): string =>
  [...requirementsOf(selector)]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(termText)
    .join(',');
