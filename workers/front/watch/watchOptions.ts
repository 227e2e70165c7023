import { badRequest, invalidObject, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { validateListOptions } from '../../../core/request/listOptions.js';
import { firstValue, parseFlag, parseInteger, type Query } from '../../../core/request/query.js';
import { parseRevision } from '../../../core/request/resourceVersion.js';
import type { Route } from '../../../core/request/route.js';
import { randomFraction } from '../../../core/runtime/random.js';

/** The options of a watch (spec, "Resource version semantics: watch"). */
export interface WatchOptions {
  /** Whether the client wants bookmarks from time to time. */
  readonly bookmarks: boolean;
  /** Time after which the watch ends. */
  readonly timeoutMs: number;
  /** The version as the client wrote it; '' for none. */
  readonly asked: string;
  /** The version to begin after, or that initial events must not be older than. */
  readonly revision?: number;
  /** Whether the watch begins with the present objects. */
  readonly isInitial: boolean;
  /**
   * Whether a bookmark marks the end of the initial events, so that the watch can take the place of a list. For
   * upstream a watch without a version or with the version 0 is one that asks for initial events.
   */
  readonly marksInitialEnd: boolean;
}

/** Shortest duration of a watch without `timeoutSeconds`; the longest is twice that. Upstream's default. */
const WATCH_MS = 30 * 60_000;

/** Returns the violations in a combination of options, by upstream's rules. */
function watchViolations(query: Query): Violation[] {
  const match = firstValue(query, 'resourceVersionMatch');
  const sendInitial = query.has('sendInitialEvents');
  const violations: Violation[] = [];
  const forbid = (message: string) =>
    violations.push({ reason: 'FieldValueForbidden', field: 'resourceVersionMatch', message: `Forbidden: ${message}` });
  if (sendInitial && match !== 'NotOlderThan')
    forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (!sendInitial && match) forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  if (match && match !== 'NotOlderThan') {
    violations.push({
      reason: 'FieldValueNotSupported',
      field: 'resourceVersionMatch',
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
    });
  }
  return violations;
}

/**
 * Parses the options of a watch. Those of a `/watch/` path without the parameter `watch` are validated as a list's,
 * which is upstream's behaviour. Throws Refusal 400 and 422.
 */
export function parseWatchOptions({ query, watchPath }: Route, naming: Naming): WatchOptions {
  if (firstValue(query, 'continue')) throw badRequest('continue is not allowed for a watch');
  const seconds = parseInteger(query, 'timeoutSeconds') ?? 0;
  const violations = watchPath && !parseFlag(query, 'watch') ? validateListOptions(query) : watchViolations(query);
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  const asked = firstValue(query, 'resourceVersion');
  const revision = (asked === '' ? 0 : parseRevision(asked)) || undefined;
  const isExplicit = query.has('sendInitialEvents');
  const isInitial = isExplicit ? parseFlag(query, 'sendInitialEvents') : revision === undefined;
  const bookmarks = parseFlag(query, 'allowWatchBookmarks');
  return {
    bookmarks,
    asked,
    revision,
    isInitial,
    marksInitialEnd: bookmarks && isInitial && (isExplicit || asked === '' || asked === '0'),
    // A negative timeout ends the watch at once, upstream's behaviour. Without a timeout the server chooses a random
    // one.
    timeoutMs: seconds === 0 ? WATCH_MS * (1 + randomFraction()) : Math.min(Math.max(0, seconds) * 1000, 2 ** 31 - 1),
  };
}
