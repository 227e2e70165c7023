import type { Selector } from '../model/selectors/selector.js';
import type { Target } from '../model/target.js';
import { parseFieldSelector, parseLabelSelector } from '../model/selectors/selectorSyntax.js';
import { firstValue } from './query.js';
import type { Route } from './route.js';

function tryParse(parse: (text: string) => Selector, text: string): Selector | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** Whether selectors are attributes of a request for authorizers. */
const hasSelectors = ({ target }: Route): boolean => target.is === 'resource' && SELECTING.has(target.verb);

/** The texts of the selectors of a list, watch or deletecollection; '' if there are none. */
export function selectorTexts(route: Route): { readonly labels: string; readonly fields: string } {
  const { query, watchesOne } = route;
  if (!(hasSelectors(route) || watchesOne) || query.size === 0) return { labels: '', fields: '' };
  return { labels: firstValue(query, 'labelSelector'), fields: firstValue(query, 'fieldSelector') };
}

/**
 * The target for authorizers, with the selectors of a list, watch or deletecollection. Invalid selectors are omitted;
 * the code that evaluates them refuses the request. Not called for unknown senders, because parsing takes time.
 */
export function withSelectors(route: Route): Target {
  const { target } = route;
  const { labels, fields } = selectorTexts(route);
  if (!hasSelectors(route) || (labels === '' && fields === '')) return target;
  const labelSelector = labels === '' ? undefined : tryParse(parseLabelSelector, labels);
  const fieldSelector = fields === '' ? undefined : tryParse(parseFieldSelector, fields);
  return { ...target, ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
}
