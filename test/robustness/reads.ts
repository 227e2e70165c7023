import { type Item, type Listing, type Operation, type Selector, selects, type Violation } from './history.js';
import type { Ledger } from './ledger.js';

/** The objects of a collection that match a selector, as an answer shows them for a revision. */
export interface Snapshot {
  readonly collection: string;
  readonly selector?: Selector;
  readonly revision: number;
  readonly items: readonly Item[];
}

/** Checks that a snapshot is the exact state of its revision. `what` describes it in messages. */
export function checkSnapshot(
  ledger: Ledger,
  { collection, selector, revision, items }: Snapshot,
  what: string,
): Violation[] {
  const violations: Violation[] = [];
  const report = (message: string) =>
    violations.push({ guarantee: 'snapshot', message: `${what} at ${revision}: ${message}` });
  const shown = new Map(items.map(item => [item.name, item]));
  if (shown.size < items.length) report('it has an object twice');
  for (const item of items) {
    if (item.version.revision > revision) report(`${item.name}@${item.version.revision} is newer`);
    if (!selects(selector, item)) report(`${item.name} does not match the selector`);
  }
  for (const name of ledger.namesIn(collection)) {
    const last = ledger.lastChange(collection, name, revision);
    if (last && ledger.mayMiss(collection, last.revision, revision)) continue;
    const expected =
      last?.version && selects(selector, { name, version: last.version }) ? last.version.revision : undefined;
    const given = shown.get(name)?.version.revision;
    if (given !== expected)
      report(`${name} should be ${expected ? `@${expected}` : 'absent'}, but is ${given ? `@${given}` : 'absent'}`);
  }
  return violations;
}

/** Checks that a list is an exact snapshot, and as recent as requested. */
export function checkListing(ledger: Ledger, listing: Listing): Violation[] {
  const { collection, ask, revision, start } = listing;
  const what = `the list of ${collection} (${ask.is})`;
  const violations = checkSnapshot(ledger, listing, what);
  const reportStale = (message: string) =>
    violations.push({ guarantee: 'fresh', message: `${what} is of ${revision}, ${message}` });
  const known = ledger.knownBefore(start);
  if (ask.is === 'recent' && revision < known) reportStale(`but ${known} was known before it was asked for`);
  if (ask.is === 'notOlder' && revision < ask.revision) reportStale(`but must not be older than ${ask.revision}`);
  if (ask.is === 'exact' && revision !== ask.revision) reportStale(`but ${ask.revision} was asked for`);
  return violations;
}

/**
 * Checks that the result of a get that may be old is not older than requested. The ledger checks that its version
 * existed.
 */
export function checkOldGet(ledger: Ledger, { collection, name, call, result }: Operation): Violation[] {
  if (call.is !== 'get' || call.at === undefined || result.is !== 'ok') return [];
  const { revision } = result.version;
  const next = ledger
    .changesOf(collection, name)
    .find(change => change.revision > revision && change.revision <= call.at!);
  if (!next) return [];
  return [
    {
      guarantee: 'fresh',
      message: `get ${name} not older than ${call.at} gave @${revision}, which ${next.revision} replaced`,
    },
  ];
}

/**
 * Checks that revisions follow real time: a write gets a higher revision than all that were known when it was sent, and
 * no client sees a write before it was sent.
 */
export function checkRevisions(ledger: Ledger): Violation[] {
  const violations: Violation[] = [];
  for (const { id, call, result, start } of ledger.history.operations) {
    if (!('token' in call)) continue;
    const change = ledger.tokens.get(call.token);
    if (change && change.at < start)
      violations.push({ guarantee: 'phantom', message: `the write ${call.token} was seen before it was sent` });
    if (change && result.is !== 'ok' && result.is !== 'unknown')
      violations.push({
        guarantee: 'phantom',
        message: `the write ${call.token} was answered ${result.is}, but is ${change.name}@${change.revision}`,
      });
    if (result.is !== 'ok') continue;
    const known = ledger.knownBefore(start);
    if (result.version.revision <= known)
      violations.push({
        guarantee: 'revisions',
        message: `operation ${id} got ${result.version.revision}, but ${known} was known before it`,
      });
    if (result.version.token !== call.token)
      violations.push({
        guarantee: 'consistent',
        message: `the answer to the write ${call.token} shows the write ${result.version.token}`,
      });
  }
  return violations;
}
