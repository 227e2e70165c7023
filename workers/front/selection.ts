import { badRequest, type Refusal } from '../../core/model/refusal.js';
import { parseFieldSelector, parseLabelSelector, type Requirement, type Selector } from '../../core/model/selector.js';
import type { ResourceTarget } from '../../core/model/target.js';
import { prefixOf } from '../../core/request/keys.js';
import { first, type Query } from '../../core/request/query.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Entry } from '../../core/threads/entry.js';
import type { Collection } from './collection.js';

/** How a list or watch chooses its objects; made once per request. */
export interface Selection {
  readonly prefix: string;
  /** Prefix and selectors: what a continue token is good for. */
  readonly scope: string;
  /**
   * It chooses by name in one namespace, be it the path's or a field selector's, or of the whole cluster: one object at
   * most, which has no pages and needs no token.
   */
  readonly single: boolean;
  /** True if it does not choose every object below the prefix. */
  readonly filtered: boolean;
  matches(collection: Collection, entry: Entry): boolean;
}

const holds = (requirement: Requirement, value: string | undefined): boolean => {
  switch (requirement.operator) {
    case '=':
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
      return value !== undefined && /^-?\d+$/.test(value) && BigInt(value) > BigInt(requirement.values[0]!);
    case 'lt':
      return value !== undefined && /^-?\d+$/.test(value) && BigInt(value) < BigInt(requirement.values[0]!);
  }
};

const matchesAll = (selector: Selector, values: ReadonlyMap<string, string>): boolean =>
  selector.every(r => holds(r, values.get(r.key)));

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

/** The first value that a field has to have. */
const exactly = (fields: Selector, key: string): string | undefined =>
  fields.find(r => r.key === key && r.operator === '=')?.values[0];

/** Reads the selectors of a collection request. Throws 400 for selectors that do not parse or name unknown fields. */
export function selectionOf(resource: Resource, target: ResourceTarget, query: Query): Selection {
  // The route has them, unless they do not parse.
  const labels = target.labelSelector ?? parseLabelSelector(first(query, 'labelSelector'));
  const fields = knownFields(resource, target.fieldSelector ?? parseFieldSelector(first(query, 'fieldSelector')));
  const byName = exactly(fields, 'metadata.name');
  const namespace = resource.namespaced ? target.namespace || exactly(fields, 'metadata.namespace') || '' : '';
  const rest = fields.filter(
    r => !isExactly(r, 'metadata.name', byName) && !isExactly(r, 'metadata.namespace', namespace || undefined),
  );
  if (target.name && fields.length > 0 && byName !== target.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const name = target.name || byName;
  const selects = labels.length > 0 || rest.length > 0;
  const prefix = prefixOf(resource, namespace);
  const selectors = [first(query, 'labelSelector'), first(query, 'fieldSelector')];
  return {
    prefix,
    scope: JSON.stringify([prefix, ...selectors]),
    single: name !== undefined && (namespace !== '' || !resource.namespaced),
    filtered: selects || fields.length > 0 || name !== undefined,
    matches(collection, entry) {
      if (!entry.key.startsWith(prefix) || (name !== undefined && entry.name !== name)) return false;
      if (!selects) return true;
      const index = collection.index(entry);
      return matchesAll(labels, index.labels) && matchesAll(rest, index.fields);
    },
  };
}
