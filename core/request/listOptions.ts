import { badRequest, invalidObject, notSupported, type Violation } from '../model/refusal.js';
import type { Naming } from '../naming.js';
import { firstValue, parseInteger, type Query } from './query.js';
import { parseRevision } from './resourceVersion.js';

/** The options of a list that concern versions and pages (spec, "Resource version semantics: list table"). */
export interface ListOptions {
  readonly limit: number;
  readonly token: string;
  /** Absent: not sent. */
  readonly revision?: number;
  /** The text of the revision in the query. */
  readonly asked: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
}

/** The largest limit that stores support. */
const MAX_ITEMS = 2 ** 31 - 2;

const forbidden = (field: string, message: string): Violation => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${message}`,
});

/**
 * Throws 400 for malformed numbers of a list or watch. Upstream parses all parameters before it validates any, so these
 * errors come first.
 */
export function checkNumbers(query: Query): void {
  parseInteger(query, 'limit');
  parseInteger(query, 'timeoutSeconds');
}

/** Returns the violations in the version parameters of a list, in upstream's words. */
export function validateListOptions(query: Query): Violation[] {
  const found: Violation[] = [];
  const match = firstValue(query, 'resourceVersionMatch');
  const raw = firstValue(query, 'resourceVersion');
  const forbid = (message: string) => found.push(forbidden('resourceVersionMatch', message));
  if (match && raw === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match && firstValue(query, 'continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
  if (match && match !== 'Exact' && match !== 'NotOlderThan')
    found.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && raw === '0') forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (query.has('sendInitialEvents'))
    found.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return found;
}

/**
 * Parses `limit`, `continue`, `resourceVersion` and `resourceVersionMatch`. Throws 400 for invalid combinations (spec,
 * "Resource version semantics: list table"); 422 for other invalid values.
 */
export function parseListOptions(query: Query, naming: Naming): ListOptions {
  const limit = Math.min(MAX_ITEMS, Math.max(0, parseInteger(query, 'limit') ?? 0));
  const token = firstValue(query, 'continue');
  const match = firstValue(query, 'resourceVersionMatch');
  const raw = firstValue(query, 'resourceVersion');
  const violations = validateListOptions(query);
  const [first] = violations;
  if (
    first &&
    violations.length === 1 &&
    !token &&
    first.field === 'resourceVersionMatch' &&
    first.reason === 'FieldValueForbidden'
  )
    throw badRequest(first.message.slice('Forbidden: '.length));
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  return {
    limit,
    token,
    match: match as ListOptions['match'],
    asked: raw,
    ...(raw === '' || (token && raw !== '0') ? {} : { revision: parseRevision(raw) }),
  };
}

/** Throws 400 if a version is sent together with a continue token. To be called after the token has been validated. */
export function refuseVersionOfToken({ token, asked }: ListOptions): void {
  if (token && asked !== '' && asked !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
}
