import type { Resource } from '../schema/resource.js';
import type { Requirement, Selector } from '../model/selector.js';
import { parseFieldSelector, parseLabelSelector } from '../model/selector.js';
import { badRequest, invalidObject, notSupported, Refusal, type Violation } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import type { Naming } from '../naming.js';
import type { Entry } from '../threads/entry.js';
import type { Collection } from './collection.js';
import { first, integer, type Query } from './query.js';

/** How a list or watch chooses its objects; made once per request. */
export interface Selection {
  readonly prefix: string;
  /** Prefix and selectors: what a continue token is good for. */
  readonly scope: string;
  /** It chooses by name in one namespace, be it the path's or a field selector's, or of the whole cluster: one object at most, which has no pages and needs no token. */
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
      (resource.strategy.selectableFields.has(key) && (resource.strategy.selectableIn?.(key, resource.apiVersion) ?? true)) ||
      resource.strategy.fieldAliases.has(requirement.key);
    if (!known) throw unknownField(resource, requirement.key);
    return key === requirement.key ? requirement : { ...requirement, key };
  });
}

/** The text depends on whether the kind has selectable fields of its own. */
function unknownField(resource: Resource, field: string): Refusal {
  const { unknownField: own, selectableFields } = resource.strategy;
  if (own) return badRequest(own(field));
  if (selectableFields.size > 0) return badRequest(`field label not supported: ${field}`);
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

/** Key prefix of a collection or of one namespace in it. */
const prefixOf = (resource: Resource, namespace: string): string =>
  `${resource.storageName}/${resource.namespaced && namespace ? `${namespace}/` : ''}`;

/** Key of one object. */
export const keyOf = (resource: Resource, namespace: string, name: string): string => prefixOf(resource, namespace) + name;

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

/** What a list or watch asks of versions and pages, checked against the spec's tables. */
export interface ListOptions {
  readonly limit: number;
  readonly token: string;
  /** undefined: not sent. */
  readonly revision?: number;
  /** The revision as the client wrote it. */
  readonly asked: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
}

/** A page no client fills; keeps limits within what stores take. */
const MOST_ITEMS = 2 ** 31 - 2;

const forbidden = (field: string, message: string): Violation => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${message}`,
});

/** What is wrong with the versions that a list asks for; the same findings as upstream's. */
export function listViolations(query: Query): Violation[] {
  const found: Violation[] = [];
  const match = first(query, 'resourceVersionMatch');
  const raw = first(query, 'resourceVersion');
  const forbid = (message: string) => found.push(forbidden('resourceVersionMatch', message));
  if (match && raw === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match && first(query, 'continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
  if (match && match !== 'Exact' && match !== 'NotOlderThan')
    found.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && raw === '0') forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (query.has('sendInitialEvents')) found.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return found;
}

/**
 * Reads and checks `limit`, `continue`, `resourceVersion` and `resourceVersionMatch` (spec, list table). The cells that the table calls
 * invalid are 400, as are a token together with a version; every other wrong combination is 422.
 */
export function listOptionsOf(query: Query, naming: Naming): ListOptions {
  const limit = Math.min(MOST_ITEMS, Math.max(0, integer(query, 'limit') ?? 0));
  integer(query, 'timeoutSeconds');
  const token = first(query, 'continue');
  const match = first(query, 'resourceVersionMatch');
  const raw = first(query, 'resourceVersion');
  const violations = listViolations(query);
  const [cell] = violations;
  if (cell && violations.length === 1 && !token && cell.field === 'resourceVersionMatch' && cell.reason === 'FieldValueForbidden')
    throw badRequest(cell.message.slice('Forbidden: '.length));
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  if (token && raw !== '' && raw !== '0') throw badRequest('specifying resource version is not allowed when using continue');
  return {
    limit,
    token,
    match: match as ListOptions['match'],
    asked: raw,
    ...(raw === '' ? {} : { revision: parseRevision(raw) }),
  };
}

/** The largest version that can be asked for: more does not fit upstream's 64 bits. */
const LAST_REVISION = 2n ** 64n - 1n;
/** Digits that are read: more cost their square. */
const DIGITS = 100;

/** A resourceVersion sent by a client as a number; `field` is where it stands. Throws 422 for anything else: upstream's text, though there it is a 500. */
export function parseRevision(raw: string, field = 'resourceVersion'): number {
  const digits = /^\d+$/.test(raw);
  if (digits && raw.length <= DIGITS && BigInt(raw) <= LAST_REVISION) return Math.min(Number(raw), Number.MAX_SAFE_INTEGER);
  const quoted = JSON.stringify(raw);
  const why = digits ? 'value out of range' : 'invalid syntax';
  throw new Refusal(
    'Invalid',
    `${field}: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
    undefined,
    422,
  );
}

const OPEN = Buffer.from('{');
const NEXT = Buffer.from(',{');
const END = Buffer.from(']}\n');

/** The first bytes of a list up to its items. */
export function listHead(resource: Resource, revision: number, token: string | undefined, remaining: number | undefined): Buffer {
  const metadata = {
    resourceVersion: String(revision),
    ...(token || !resource.builtIn ? { continue: token ?? '' } : {}),
    ...(remaining ? { remainingItemCount: remaining } : {}),
  };
  const [a, b] = resource.builtIn ? ['kind', 'apiVersion'] : ['apiVersion', 'kind'];
  const envelope = { kind: resource.listKind, apiVersion: resource.apiVersion };
  return Buffer.from(
    `{"${a}":"${envelope[a as 'kind']}","${b}":"${envelope[b as 'kind']}","metadata":${JSON.stringify(metadata)},"items":[`,
  );
}

/** Length of the envelope that list items of built-in kinds do not carry: `{"kind":"Pod","apiVersion":"v1",`. */
export const envelopeLength = (resource: Resource): number =>
  resource.builtIn
    ? Buffer.byteLength(`{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(resource.storageApiVersion)},`)
    : 1;

/** The parts of a list's body, in order: views of the items as they are held, without the `skip` bytes of their envelopes, and what stands between them. */
export function* listParts(head: Uint8Array, items: readonly Entry[], skip: number): Generator<Uint8Array> {
  yield head;
  let between = OPEN;
  for (const item of items) {
    yield between;
    yield item.from(skip);
    between = NEXT;
  }
  yield END;
}

/** Bytes of those parts. */
export function listLength(head: Uint8Array, items: readonly Entry[], skip: number): number {
  let length = head.length + END.length + Math.max(0, items.length * NEXT.length - 1);
  for (const item of items) length += item.length - skip;
  return length;
}

/** The registry look-up of a list's collection in the version asked for is not the stored one: its items have to be converted. */
export const needsConversion = (resource: Resource): boolean => resource.apiVersion !== resource.storageApiVersion;

/** Whether one of the entries may have been written under another schema than the resource's: it is shown through the pool. */
export const predates = (resource: Resource, entries: Iterable<Entry>): boolean => {
  const { changedAt } = resource;
  if (changedAt === undefined) return false;
  for (const entry of entries) if (entry.revision <= changedAt) return true;
  return false;
};
