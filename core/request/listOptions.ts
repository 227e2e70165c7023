import { badRequest, invalidObject, notSupported, type Violation } from '../model/refusal.js';
import type { Naming } from '../naming.js';
import { first, integer, type Query } from './query.js';
import { parseRevision } from './resourceVersion.js';

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
  if (query.has('sendInitialEvents'))
    found.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return found;
}

/**
 * Reads and checks `limit`, `continue`, `resourceVersion` and `resourceVersionMatch` (spec, list table). The cells that
 * the table calls invalid are 400, as are a token together with a version; every other wrong combination is 422.
 */
export function listOptionsOf(query: Query, naming: Naming): ListOptions {
  const limit = Math.min(MOST_ITEMS, Math.max(0, integer(query, 'limit') ?? 0));
  integer(query, 'timeoutSeconds');
  const token = first(query, 'continue');
  const match = first(query, 'resourceVersionMatch');
  const raw = first(query, 'resourceVersion');
  const violations = listViolations(query);
  const [cell] = violations;
  if (
    cell &&
    violations.length === 1 &&
    !token &&
    cell.field === 'resourceVersionMatch' &&
    cell.reason === 'FieldValueForbidden'
  )
    throw badRequest(cell.message.slice('Forbidden: '.length));
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  if (token && raw !== '' && raw !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  return {
    limit,
    token,
    match: match as ListOptions['match'],
    asked: raw,
    ...(raw === '' ? {} : { revision: parseRevision(raw) }),
  };
}
