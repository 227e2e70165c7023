import type { History, Item, Version, Violation, WatchSession } from './history.js';

/** A change that a client saw. `at`: when it was first known. Deletions have no version. */
export interface Change {
  readonly revision: number;
  readonly collection: string;
  readonly name: string;
  readonly version?: Version;
  at: number;
}

/** Revisions (from, to] that no watch without a selector covered: changes in them may be unknown. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The revision up to which a stream delivered everything. */
export const endOf = ({ from, initial, events, bookmarks }: WatchSession): number =>
  Math.max(
    from ?? initial?.revision ?? 0,
    ...events.slice(-1).map(event => event.version.revision),
    ...bookmarks.map(bookmark => bookmark.revision),
  );

/** Every change that a client of a round saw, by revision. All reads and watches are compared with it. */
export class Ledger {
  readonly #byRevision = new Map<number, Change>();
  readonly #byKey = new Map<string, Change[]>();
  readonly #byCollection = new Map<string, Change[]>();
  readonly #gaps = new Map<string, Gap[]>();
  /** The highest revision that was known at each time, in the order of time. */
  #known: { readonly at: number; revision: number }[] = [];
  /** Changes by the token of the write. */
  readonly tokens = new Map<string, Change>();
  /** Deletions by the uid of the object. */
  readonly deletions = new Map<string, Change>();
  readonly violations: Violation[] = [];

  constructor(readonly history: History) {
    for (const { collection, name, result, end } of history.operations)
      if (result.is === 'ok') this.#addVersion(collection, { name, version: result.version }, end);
    for (const { collection, items, end, revision } of history.listings)
      this.#addItems(collection, items, end, revision);
    for (const session of history.sessions) this.#addSession(session);
    this.#sort();
    for (const session of history.sessions) this.#addDeletions(session);
    for (const collection of this.#byCollection.keys()) this.#gaps.set(collection, this.#gapsOf(collection));
  }

  /** The changes of an object, in order. */
  changesOf(collection: string, name: string): readonly Change[] {
    return this.#byKey.get(`${collection}/${name}`) ?? [];
  }

  /** The changes of a collection, in order. */
  changesIn(collection: string): readonly Change[] {
    return this.#byCollection.get(collection) ?? [];
  }

  /** The names of all objects that a collection ever had. */
  namesIn(collection: string): string[] {
    return [...this.#byKey.keys()]
      .filter(key => key.startsWith(`${collection}/`))
      .map(key => key.slice(collection.length + 1));
  }

  /** The last change of an object up to a revision. */
  lastChange(collection: string, name: string, revision: number): Change | undefined {
    return this.changesOf(collection, name).findLast(change => change.revision <= revision);
  }

  /** True if a change in (from, to] may be unknown. */
  mayMiss(collection: string, from: number, to: number): boolean {
    return (this.#gaps.get(collection) ?? [{ from: 0, to: Number.MAX_SAFE_INTEGER }]).some(
      gap => gap.from < to && gap.to > from,
    );
  }

  /** True if a change after this revision, up to the newest one, may be unknown. */
  mayMissAfter(collection: string, from: number): boolean {
    return (this.#gaps.get(collection) ?? []).some(gap => gap.to > from && gap.from < this.newest);
  }

  /** The highest revision of the round. */
  get newest(): number {
    return this.#known.at(-1)?.revision ?? this.history.base;
  }

  /** The highest revision that a client knew before `time`. */
  knownBefore(time: number): number {
    let low = 0;
    let high = this.#known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#known[middle]!.at < time) low = middle + 1;
      else high = middle;
    }
    return this.#known[low - 1]?.revision ?? 0;
  }

  #learn(at: number, revision: number): void {
    this.#known.push({ at, revision });
  }

  #addItems(collection: string, items: readonly Item[], at: number, revision: number): void {
    for (const item of items) this.#addVersion(collection, item, at);
    this.#learn(at, revision);
  }

  #addSession({ collection, events, initial }: WatchSession): void {
    if (initial) this.#addItems(collection, initial.items, initial.at, initial.revision);
    for (const event of events) {
      this.#learn(event.at, event.version.revision);
      if (event.type !== 'DELETED') this.#addVersion(collection, event, event.at);
    }
  }

  /**
   * Adds the deletions that a stream shows. A selector by color also shows an object as deleted when it no longer
   * matches.
   */
  #addDeletions({ collection, selector, events }: WatchSession): void {
    if (selector?.is === 'color') return;
    for (const { type, name, version, at } of events) {
      if (type !== 'DELETED') continue;
      const change = { revision: version.revision, collection, name, at };
      if (!this.#add(change)) continue;
      const before = this.deletions.get(version.uid);
      if (!before) this.deletions.set(version.uid, change);
      else if (before.revision !== change.revision) {
        const message = `${collection}/${name} was deleted once, but at ${before.revision} and at ${change.revision}`;
        this.violations.push({ guarantee: 'previous state', message });
      }
    }
    this.#sort();
  }

  #addVersion(collection: string, { name, version }: Item, at: number): void {
    this.#learn(at, version.revision);
    const change: Change = { revision: version.revision, collection, name, version, at };
    if (!this.#add(change) || version.token === '') return;
    const before = this.tokens.get(version.token);
    if (before && before.revision !== version.revision)
      this.#reportContradiction(before, change, `the write ${version.token}`);
    else if (!before) this.tokens.set(version.token, this.#byRevision.get(version.revision)!);
  }

  /** Adds a change. Returns false if it contradicts a known change of its revision. */
  #add(change: Change): boolean {
    const before = this.#byRevision.get(change.revision);
    if (!before) {
      this.#byRevision.set(change.revision, change);
      push(this.#byKey, `${change.collection}/${change.name}`, change);
      push(this.#byCollection, change.collection, change);
      return true;
    }
    before.at = Math.min(before.at, change.at);
    const same =
      before.collection === change.collection &&
      before.name === change.name &&
      before.version?.digest === change.version?.digest &&
      before.version?.uid === change.version?.uid;
    if (!same) this.#reportContradiction(before, change, `revision ${change.revision}`);
    return same;
  }

  #reportContradiction(before: Change, change: Change, what: string): void {
    this.violations.push({
      guarantee: 'consistent',
      message: `${what} is both ${describe(before)} and ${describe(change)}`,
    });
  }

  #sort(): void {
    for (const changes of [...this.#byKey.values(), ...this.#byCollection.values()])
      changes.sort((a, b) => a.revision - b.revision);
    this.#known.sort((a, b) => a.at - b.at);
    let highest = 0;
    this.#known = this.#known.map(({ at, revision }) => ({ at, revision: (highest = Math.max(highest, revision)) }));
  }

  #gapsOf(collection: string): Gap[] {
    const covered = this.history.sessions
      .filter(
        session =>
          session.collection === collection && !session.selector && (session.from ?? session.initial) !== undefined,
      )
      .map(session => ({ from: session.from ?? session.initial!.revision, to: endOf(session) }))
      .sort((a, b) => a.from - b.from);
    const gaps: Gap[] = [];
    let reached = this.history.base;
    for (const { from, to } of covered) {
      if (from > reached) gaps.push({ from: reached, to: from });
      reached = Math.max(reached, to);
    }
    return [...gaps, { from: reached, to: Number.MAX_SAFE_INTEGER }];
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

const describe = ({ collection, name, revision, version }: Change): string =>
  `${collection}/${name}@${revision} ${version ? `of ${version.token || 'no token'} (${version.digest})` : 'deleted'}`;
