import { selects, type Violation, type WatchEvent, type WatchSession } from './history.js';
import { type Change, endOf, type Ledger } from './ledger.js';
import { snapshot } from './reads.js';

/** What a stream should have shown of a change; `unsure` if a change before it may be unknown. */
interface Expected {
  readonly type: WatchEvent['type'];
  readonly change: Change;
  readonly digest: string | undefined;
  readonly unsure: boolean;
}

const label = ({ id, collection, selector, from }: WatchSession): string =>
  `watch ${id} of ${collection}${selector ? ` with ${selector.is}=${'color' in selector ? selector.color : selector.name}` : ''} from ${from ?? 'the initial state'}`;

/** The order of one stream: revisions only rise, nothing up to a bookmark or the start comes again. */
function orderOf(session: WatchSession, began: number): Violation[] {
  const violations: Violation[] = [];
  const found = (guarantee: Violation['guarantee'], message: string) =>
    violations.push({ guarantee, message: `${label(session)}: ${message}` });
  const seen = new Set<number>();
  let last = began;
  let bookmark = 0;
  const take = (revision: number): void => {
    if (revision < last) found('bookmarkable', `the bookmark ${revision} came after ${last}`);
    bookmark = revision;
  };
  const bookmarks = [...session.bookmarks];
  for (const [i, { version, name }] of session.events.entries()) {
    while (bookmarks[0] && bookmarks[0].after <= i) take(bookmarks.shift()!.revision);
    const { revision } = version;
    if (seen.has(revision)) found('unique', `${name}@${revision} came twice`);
    else if (revision <= began) found('resumable', `${name}@${revision} came although it began at ${began}`);
    else if (revision <= bookmark) found('bookmarkable', `${name}@${revision} came after the bookmark ${bookmark}`);
    else if (revision < last) found('ordered', `${name}@${revision} came after ${last}`);
    seen.add(revision);
    last = Math.max(last, revision);
  }
  for (const { revision } of bookmarks) take(revision);
  return violations;
}

/** How a change looks through the stream's selector. */
function expectedOf(ledger: Ledger, session: WatchSession, change: Change): Expected | undefined {
  const { collection, selector } = session;
  const history = ledger.changesOf(collection, change.name);
  const before = history[history.indexOf(change) - 1];
  const unsure = ledger.unsure(collection, before?.revision ?? ledger.history.base, change.revision - 1);
  const { name } = change;
  const was = before?.version !== undefined && selects(selector, { name, version: before.version });
  const is = change.version !== undefined && selects(selector, { name, version: change.version });
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', change, digest: change.version!.digest, unsure };
  return was ? { type: 'DELETED', change, digest: before.version!.digest, unsure } : undefined;
}

/** The stream against everything that is known to have happened in its range. */
function contentOf(ledger: Ledger, session: WatchSession, began: number): Violation[] {
  const violations: Violation[] = [];
  const found = (guarantee: Violation['guarantee'], message: string) =>
    violations.push({ guarantee, message: `${label(session)}: ${message}` });
  const { collection, selector } = session;
  const end = endOf(session);
  const events = new Map(session.events.map(event => [event.version.revision, event]));
  for (const change of ledger.changesIn(collection)) {
    if (change.revision <= began || change.revision > end) continue;
    const expected = expectedOf(ledger, session, change);
    const event = events.get(change.revision);
    events.delete(change.revision);
    if (expected?.unsure || (!expected && ledger.unsure(collection, began, change.revision))) continue;
    const what = `${change.name}@${change.revision}`;
    if (!expected && event) found('filtered', `${event.type} ${what} does not belong into it`);
    if (!expected) continue;
    if (!event) found('reliable', `${expected.type} ${what} is missing, although it went on to ${end}`);
    else if (event.type !== expected.type)
      found(selector ? 'filtered' : 'previous state', `${what} came as ${event.type} instead of ${expected.type}`);
    else if (event.name !== change.name) found('consistent', `${what} came as ${event.name}`);
    else if (event.version.digest !== expected.digest)
      found(
        expected.type === 'DELETED' ? 'previous state' : 'consistent',
        `${event.type} ${what} has other contents than it had`,
      );
  }
  for (const [revision, { type, name }] of events)
    if (revision > began && !ledger.unsure(collection, revision - 1, revision))
      found('phantom', `${type} ${name}@${revision} happened for nobody else`);
  return violations;
}

/** Checks one stream: order, completeness, selection, contents, initial events. */
export function checkSession(ledger: Ledger, session: WatchSession): Violation[] {
  const { collection, selector, from, initial, start } = session;
  const began = from ?? initial?.revision;
  if (began === undefined) {
    const early = session.events.length > 0 || session.bookmarks.length > 0;
    return early
      ? [{ guarantee: 'initial events', message: `${label(session)}: an event came before the initial state ended` }]
      : [];
  }
  const violations = [...orderOf(session, began), ...contentOf(ledger, session, began)];
  if (initial) {
    const { items, revision } = initial;
    const what = `${label(session)}: the initial state`;
    for (const { message } of snapshot(ledger, { collection, selector, items, revision }, what))
      violations.push({ guarantee: 'initial events', message });
    const known = ledger.knownBefore(start);
    if (revision < known)
      violations.push({
        guarantee: 'fresh',
        message: `${what} is of ${revision}, but ${known} was known before it was asked for`,
      });
  }
  return violations;
}
