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
  /** The revision as the client wrote it. */
  readonly asked: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
}

/** The largest limit: more is not within the range of stores. */
const MAX_ITEMS = 2 ** 31 - 2;

const forbidden = (field: string, message: string): Violation => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${message}`,
});

/** The violations in the versions that a list asks for, as upstream finds them. */
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
 * Reads `limit`, `continue`, `resourceVersion` and `resourceVersionMatch`. Throws 400 for the combinations that the
 * table of lists calls invalid (spec, "Resource version semantics: list table") and for a token with a version, else
 * 422.
 */
export function parseListOptions(query: Query, naming: Naming): ListOptions {
  const limit = Math.min(MAX_ITEMS, Math.max(0, parseInteger(query, 'limit') ?? 0));
  parseInteger(query, 'timeoutSeconds');
  const token = firstValue(query, 'continue');
  const match = firstValue(query, 'resourceVersionMatch');
  const raw = firstValue(query, 'resourceVersion');
  const violations = validateListOptions(query);
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
