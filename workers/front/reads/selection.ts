import { badRequest, type GroupResource, type Refusal } from '../../../core/model/refusal.js';
import { matcherOf, type Requirement, type Selector } from '../../../core/model/selectors/selector.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import { prefixOf } from '../../../core/request/keys.js';
import type { Route } from '../../../core/request/route.js';
import { selectorTexts } from '../../../core/request/selectors.js';
import { parseFieldSelector, parseLabelSelector } from '../../../core/model/selectors/selectorSyntax.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { Collection } from '../state/collection.js';

/** How a list or watch chooses its objects; made once per request. */
export interface Selection {
  /** How errors name the resource. */
  readonly of: GroupResource;
  /** Prefix of the keys of all objects that it chooses. */
  readonly prefix: string;
  /**
   * Prefix of the collection that the path names: the scope of a continue token, which does not depend on the
   * selectors.
   */
  readonly scope: string;
  /**
   * Key of the only object that it can choose, if it names one, in a namespace or of the whole cluster; undefined for
   * all other selections.
   */
  readonly key?: string;
  /** Whether it may leave out objects below the prefix. */
  readonly filtered: boolean;
  matches(collection: Collection, entry: Entry): boolean;
}

/** Whether a selection may choose the object of a key, whatever its labels and fields are. */
export const mayShow = ({ prefix, key: only }: Selection, key: string): boolean =>
  only === undefined ? key.startsWith(prefix) : key === only;

/** Refuses field selectors on labels the kind does not have; rewrites aliases. */
function knownFields(resource: Resource, selector: Selector): Selector {
  return selector.map(requirement => {
    const key = resource.strategy.fieldAliases.get(requirement.key) ?? requirement.key;
    const known =
      key === 'metadata.name' ||
      (key === 'metadata.namespace' &&
        (resource.namespaced || (resource.builtIn && resource.strategy.selectableFields.size === 0))) ||
      (resource.strategy.selectableFields.has(key) &&
        (resource.strategy.isSelectableIn?.(key, resource.apiVersion) ?? true)) ||
      resource.strategy.fieldAliases.has(requirement.key);
    if (!known) throw unknownField(resource, requirement.key);
    return key === requirement.key ? requirement : { ...requirement, key };
  });
}

/** The text depends on whether the kind has selectable fields of its own. */
function unknownField(resource: Resource, field: string): Refusal {
  const { unknownFieldMessage: own, selectableFields } = resource.strategy;
  if (own) return badRequest(own(field));
  if (selectableFields.size > 0) return badRequest(`field label not supported: ${field}`);
  return badRequest(
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

const isExactly = (requirement: Requirement, key: string, value: string | undefined): boolean =>
  requirement.key === key && requirement.operator === '=' && requirement.values[0] === value;

/** The first value that a selector requires a field to have. */
const exactly = (fields: Selector, key: string): string | undefined =>
  fields.find(r => r.key === key && r.operator === '=')?.values[0];

/** The selectors of a request. */
interface Selectors {
  readonly labels: Selector;
  readonly fields: Selector;
}

/** Parses the selectors of a request. Throws 400. */
export function parseSelectors(route: Route): Selectors {
  const texts = selectorTexts(route);
  return { labels: parseLabelSelector(texts.labels), fields: parseFieldSelector(texts.fields) };
}

/**
 * Returns the objects that a collection request selects. Throws 400 for selectors that name unknown fields, and those
 * that do not parse unless `selectors` has them.
 */
export function selectionOf(resource: Resource, route: Route, selectors: Selectors = parseSelectors(route)): Selection {
  const target = route.target as ResourceTarget;
  const { labels } = selectors;
  const fields = knownFields(resource, selectors.fields);
  const byName = exactly(fields, 'metadata.name');
  const namespace = resource.namespaced ? target.namespace || exactly(fields, 'metadata.namespace') || '' : '';
  const rest = fields.filter(
    r => !isExactly(r, 'metadata.name', byName) && !isExactly(r, 'metadata.namespace', namespace || undefined),
  );
  if (target.name && fields.length > 0 && byName !== target.name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  const name = target.name || byName;
  const selects = labels.length > 0 || rest.length > 0;
  const prefix = prefixOf(resource, namespace);
  const matchesLabels = matcherOf(labels);
  const matchesFields = matcherOf(rest);
  return {
    of: { group: resource.group, resource: resource.plural },
    prefix,
    scope: prefixOf(resource, resource.namespaced ? target.namespace : ''),
    key: name !== undefined && (namespace !== '' || !resource.namespaced) ? prefix + name : undefined,
    filtered: selects || fields.length > 0 || name !== undefined,
    matches(collection, entry) {
      if (!entry.key.startsWith(prefix) || (name !== undefined && entry.name !== name)) return false;
      if (!selects) return true;
      const index = collection.index(entry);
      return matchesLabels(key => index.labels.get(key)) && matchesFields(key => index.fields.get(key));
    },
  };
}
