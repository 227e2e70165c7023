import { selects, type Violation, type WatchEvent, type WatchSession } from './history.js';
import { type Change, endOf, type Ledger } from './ledger.js';
import { checkSnapshot } from './reads.js';

/** The expected event of a stream for a change. `isUncertain`: an earlier change of the object may be unknown. */
interface Expected {
  readonly type: WatchEvent['type'];
  readonly change: Change;
  readonly digest: string | undefined;
  readonly isUncertain: boolean;
}

const describe = ({ id, collection, selector, from }: WatchSession): string =>
  `watch ${id} of ${collection}${selector ? ` with ${selector.is}=${'color' in selector ? selector.color : selector.name}` : ''} from ${from ?? 'the initial state'}`;

/** Checks the order of a stream: revisions increase, and no event is at or below the start or an earlier bookmark. */
function checkOrder(session: WatchSession, began: number): Violation[] {
  const violations: Violation[] = [];
  const report = (guarantee: Violation['guarantee'], message: string) =>
    violations.push({ guarantee, message: `${describe(session)}: ${message}` });
  const seen = new Set<number>();
  let last = began;
  let bookmark = 0;
  const take = (revision: number): void => {
    if (revision < last) report('bookmarkable', `the bookmark ${revision} came after ${last}`);
    bookmark = revision;
  };
  const bookmarks = [...session.bookmarks];
  for (const [i, { version, name }] of session.events.entries()) {
    while (bookmarks[0] && bookmarks[0].after <= i) take(bookmarks.shift()!.revision);
    const { revision } = version;
    if (seen.has(revision)) report('unique', `${name}@${revision} came twice`);
    else if (revision <= began) report('resumable', `${name}@${revision} came although it began at ${began}`);
    else if (revision <= bookmark) report('bookmarkable', `${name}@${revision} came after the bookmark ${bookmark}`);
    else if (revision < last) report('ordered', `${name}@${revision} came after ${last}`);
    seen.add(revision);
    last = Math.max(last, revision);
  }
  for (const { revision } of bookmarks) take(revision);
  return violations;
}

/** How a stream with this selector shows a change; undefined if it does not show it. */
function expectedOf(ledger: Ledger, session: WatchSession, change: Change): Expected | undefined {
  const { collection, selector } = session;
  const history = ledger.changesOf(collection, change.name);
  const before = history[history.indexOf(change) - 1];
  const isUncertain = ledger.mayMiss(collection, before?.revision ?? ledger.history.base, change.revision - 1);
  const { name } = change;
  const was = before?.version !== undefined && selects(selector, { name, version: before.version });
  const is = change.version !== undefined && selects(selector, { name, version: change.version });
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', change, digest: change.version!.digest, isUncertain };
  return was ? { type: 'DELETED', change, digest: before.version!.digest, isUncertain } : undefined;
}

/** Compares a stream with all known changes in its range. */
function checkContents(ledger: Ledger, session: WatchSession, began: number): Violation[] {
  const violations: Violation[] = [];
  const report = (guarantee: Violation['guarantee'], message: string) =>
    violations.push({ guarantee, message: `${describe(session)}: ${message}` });
  const { collection, selector } = session;
  const end = endOf(session);
  const events = new Map(session.events.map(event => [event.version.revision, event]));
  for (const change of ledger.changesIn(collection)) {
    if (change.revision <= began || change.revision > end) continue;
    const expected = expectedOf(ledger, session, change);
    const event = events.get(change.revision);
    events.delete(change.revision);
    if (expected?.isUncertain || (!expected && ledger.mayMiss(collection, began, change.revision))) continue;
    const what = `${change.name}@${change.revision}`;
    if (!expected && event) report('filtered', `${event.type} ${what} does not match the selector`);
    if (!expected) continue;
    if (!event) report('reliable', `${expected.type} ${what} is missing, although it went on to ${end}`);
    else if (event.type !== expected.type)
      report(selector ? 'filtered' : 'previous state', `${what} came as ${event.type} instead of ${expected.type}`);
    else if (event.name !== change.name) report('consistent', `${what} came as ${event.name}`);
    else if (event.version.digest !== expected.digest)
      report(
        expected.type === 'DELETED' ? 'previous state' : 'consistent',
        `${event.type} ${what} differs from what other clients saw`,
      );
  }
  for (const [revision, { type, name }] of events)
    if (revision > began && !ledger.mayMiss(collection, revision - 1, revision))
      report('phantom', `${type} ${name}@${revision} was seen by no other client`);
  return violations;
}

/** Checks the order, the completeness, the contents and the initial events of a stream. */
export function checkSession(ledger: Ledger, session: WatchSession): Violation[] {
  const { collection, selector, from, initial, start } = session;
  const began = from ?? initial?.revision;
  if (began === undefined) {
    const early = session.events.length > 0 || session.bookmarks.length > 0;
    return early
      ? [{ guarantee: 'initial events', message: `${describe(session)}: an event came before the initial state ended` }]
      : [];
  }
  const violations = [...checkOrder(session, began), ...checkContents(ledger, session, began)];
  if (initial) {
    const { items, revision } = initial;
    const what = `${describe(session)}: the initial state`;
    for (const { message } of checkSnapshot(ledger, { collection, selector, items, revision }, what))
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
