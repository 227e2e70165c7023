import { entries, list, type Rec, strings, text } from './record.js';

/** A label selector as the text clients put into `labelSelector` (spec, "Scale": status.selector), terms in the order of their keys. */
export function labelSelectorText(selector: Rec | undefined): string {
  const terms: [string, string][] = entries(selector, 'matchLabels').map(([key, value]) => [key, `${key}=${String(value)}`]);
  for (const expression of list(selector, 'matchExpressions')) {
    const key = text(expression, 'key');
    const values = strings(expression, 'values').sort().join(',');
    const operator = text(expression, 'operator');
    if (operator === 'Exists') terms.push([key, key]);
    else if (operator === 'DoesNotExist') terms.push([key, `!${key}`]);
    else terms.push([key, `${key} ${operator === 'In' ? 'in' : 'notin'} (${values})`]);
  }
  return terms
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, term]) => term)
    .join(',');
}
