import type { Requirement, Selector } from './selector.js';

/** A label selector in an object (upstream `LabelSelector`). */
interface LabelSelector {
  readonly matchLabels?: { readonly [key: string]: string };
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** An expression of a label selector. */
interface LabelSelectorRequirement {
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

/** Converts the label selector of an object to requirements. One with an unknown operator matches nothing. */
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

function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  return operator === '=' ? `${key}=${values[0]}` : `${key} ${operator} (${[...values].sort().join(',')})`;
}

/** Formats the label selector of an object like the query parameter `labelSelector`, sorted by key. */
export const labelSelectorText = (selector?: object): string =>
  [...requirementsOf(selector)]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
