import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from './check.js';
import type { Guarantee, History, Listing, Operation, Version, WatchSession } from './history.js';
import { Simulation } from './simulation.js';

const OPERATIONS = 120;
const guaranteesBroken = (history: History): Set<Guarantee> =>
  new Set(check(history).violations.map(({ guarantee }) => guarantee));
const seeds = fc.integer({ min: 0, max: 1_000_000 });

/** Injects a violation into a correct history. Returns undefined if this history has no place for it. */
type Inject = (simulation: Simulation) => History | undefined;

/** Expects that the checker reports an injected violation with any seed, as one of these guarantees. */
function expectFound(inject: Inject, ...as: readonly Guarantee[]): void {
  let injected = 0;
  fc.assert(
    fc.property(seeds, seed => {
      const history = inject(new Simulation(seed, OPERATIONS));
      if (!history) return;
      injected++;
      const found = guaranteesBroken(history);
      expect([...found].some(guarantee => as.includes(guarantee))).toBe(true);
    }),
    { numRuns: 100 },
  );
  expect(injected).toBeGreaterThan(20);
}

const withOperation = (history: History, before: Operation, after: Operation): History => ({
  ...history,
  operations: history.operations.map(operation => (operation === before ? after : operation)),
});
const withListing = (history: History, before: Listing, after: Listing): History => ({
  ...history,
  listings: history.listings.map(listing => (listing === before ? after : listing)),
});
const withSession = (history: History, before: WatchSession, change: Partial<WatchSession>): History => ({
  ...history,
  sessions: history.sessions.map(session => (session === before ? { ...session, ...change } : session)),
});

/**
 * A stream with a selector and enough events. Streams without a selector are not changed, because others are compared
 * with them.
 */
const selectiveSession = ({ history }: Simulation, least: number): WatchSession | undefined =>
  history.sessions.find(({ selector, events }) => selector?.is === 'color' && events.length >= least);
/** The stream of all objects from the start. */
const fullSession = ({ history }: Simulation): WatchSession =>
  history.sessions.find(({ selector, from }) => !selector && from === history.base)!;

/** The version before this one. */
const versionBefore = ({ steps }: Simulation, { revision }: Version): Version | undefined =>
  steps.find(step => step.revision === revision)?.before;

describe('checker', () => {
  it('finds nothing in histories of a correct store', () => {
    fc.assert(
      fc.property(seeds, seed => {
        expect(check(new Simulation(seed, OPERATIONS).history).violations).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('finds a stale read', () => {
    expectFound(simulation => {
      const { history, steps } = simulation;
      // A get that began after the version it returns was acknowledged; it is changed to return the previous
      // version.
      for (const get of history.operations) {
        if (get.call.is !== 'get' || get.result.is !== 'ok') continue;
        const { version } = get.result;
        const before = versionBefore(simulation, version);
        const write = history.operations.find(
          ({ call, result, end }) =>
            'token' in call && call.token === version.token && result.is === 'ok' && end < get.start,
        );
        if (before && write && steps.length > 0)
          return withOperation(history, get, { ...get, result: { is: 'ok', version: before } });
      }
      return undefined;
    }, 'linearizable');
  });

  it('finds a lost write', () => {
    expectFound(
      ({ history }) => {
        // Acknowledged, but unknown to every watch, list and other call: as after a crash that lost it.
        const write = history.operations.find(({ call, result }) => call.is === 'update' && result.is === 'conflict');
        if (write?.call.is !== 'update') return undefined;
        const { token } = write.call;
        const version = { revision: 5000, uid: 'lost', token, color: 'red', digest: 'lost' };
        return withOperation(history, write, { ...write, result: { is: 'ok', version } });
      },
      'linearizable',
      'reliable',
      'revisions',
    );
  });

  it('finds an acknowledged write that a watch never showed', () => {
    expectFound(
      simulation => {
        const { history } = simulation;
        const acknowledged = new Set(
          history.operations.flatMap(({ result }) => (result.is === 'ok' ? [result.version.revision] : [])),
        );
        const event = fullSession(simulation).events.find(
          ({ type, version }) => type !== 'DELETED' && acknowledged.has(version.revision),
        );
        if (!event) return undefined;
        const others = history.sessions.map(session => ({
          ...session,
          events: session.events.filter(({ version }) => version.revision !== event.version.revision),
        }));
        return { ...history, sessions: others };
      },
      'reliable',
      'initial events',
      'snapshot',
      'previous state',
    );
  });

  it('finds a missed event', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 3);
      return (
        session &&
        withSession(simulation.history, session, { events: session.events.filter((_, i) => i !== 1), bookmarks: [] })
      );
    }, 'reliable');
  });

  it('finds a duplicated event', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 3);
      const again = session?.events[1];
      return (
        session &&
        withSession(simulation.history, session, {
          events: [...session.events.slice(0, 2), again!, ...session.events.slice(2)],
          bookmarks: [],
        })
      );
    }, 'unique');
  });

  it('finds reordered events', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 3);
      if (!session) return undefined;
      const [first, second, ...rest] = session.events;
      return withSession(simulation.history, session, { events: [second!, first!, ...rest], bookmarks: [] });
    }, 'ordered');
  });

  it('finds a deletion with a wrong revision', () => {
    expectFound(
      simulation => {
        const session = fullSession(simulation);
        const gone = session.events.findIndex(({ type }) => type === 'DELETED');
        if (gone < 0) return undefined;
        const { version, ...event } = session.events[gone]!;
        const before = simulation.steps.find(({ revision }) => revision === version.revision)!.before!;
        return withSession(simulation.history, session, {
          events: session.events.with(gone, { ...event, version: before }),
          bookmarks: [],
        });
      },
      'previous state',
      'consistent',
      'unique',
      'ordered',
    );
  });

  it('finds a deletion with another state than the last', () => {
    expectFound(
      simulation => {
        const session = simulation.history.sessions.find(({ events }) => events.some(({ type }) => type === 'DELETED'));
        if (!session) return undefined;
        const gone = session.events.findIndex(({ type }) => type === 'DELETED');
        const event = session.events[gone]!;
        const version = { ...event.version, digest: 'other' };
        return withSession(simulation.history, session, { events: session.events.with(gone, { ...event, version }) });
      },
      'previous state',
      'filtered',
    );
  });

  it('finds an event that the selector excludes, and a move that came as the wrong type', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 1);
      const extra = fullSession(simulation).events.find(
        ({ type, version }) =>
          type === 'ADDED' &&
          version.color !== 'red' &&
          version.revision > (session?.from ?? session?.initial?.revision ?? Infinity),
      );
      if (!session || !extra) return undefined;
      const events = [...session.events, extra].sort((a, b) => a.version.revision - b.version.revision);
      return withSession(simulation.history, session, {
        events,
        bookmarks: [{ revision: simulation.revision, after: events.length }],
      });
    }, 'filtered');
    expectFound(
      simulation => {
        const session = selectiveSession(simulation, 1);
        const [first, ...rest] = session?.events ?? [];
        const type = first?.type === 'ADDED' ? 'MODIFIED' : 'ADDED';
        return session && withSession(simulation.history, session, { events: [{ ...first!, type }, ...rest] });
      },
      'filtered',
      'consistent',
      'unique',
      'phantom',
    );
  });

  it('finds an event at or below the revision that a watch resumed from', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 2);
      if (session?.from === undefined) return undefined;
      return withSession(simulation.history, session, { from: session.events[0]!.version.revision });
    }, 'resumable');
  });

  it('finds an event after a bookmark that had promised it, and one that was skipped', () => {
    expectFound(simulation => {
      const session = selectiveSession(simulation, 2);
      if (!session) return undefined;
      const bookmarks = [{ revision: session.events[1]!.version.revision, after: 1 }];
      return withSession(simulation.history, session, { bookmarks });
    }, 'bookmarkable');
    expectFound(simulation => {
      const session = selectiveSession(simulation, 2);
      return (
        session &&
        withSession(simulation.history, session, {
          events: session.events.slice(0, -1),
          bookmarks: [{ revision: simulation.revision, after: 1 }],
        })
      );
    }, 'reliable');
  });

  it('finds initial events that lack an object', () => {
    expectFound(simulation => {
      const session = simulation.history.sessions.find(({ initial }) => initial && initial.items.length > 0);
      return (
        session &&
        withSession(simulation.history, session, {
          initial: { ...session.initial!, items: session.initial!.items.slice(1) },
        })
      );
    }, 'initial events');
  });

  it('finds a list that lacks an object, mixes versions, or is older than what was known', () => {
    expectFound(({ history }) => {
      const listing = history.listings.find(({ items }) => items.length > 0);
      return listing && withListing(history, listing, { ...listing, items: listing.items.slice(1) });
    }, 'snapshot');
    expectFound(simulation => {
      const { history } = simulation;
      for (const listing of history.listings) {
        const [first, ...rest] = listing.items;
        const before = first && versionBefore(simulation, first.version);
        if (before && !listing.selector)
          return withListing(history, listing, { ...listing, items: [{ ...first, version: before }, ...rest] });
      }
      return undefined;
    }, 'snapshot');
    expectFound(simulation => {
      const listing = simulation.history.listings.findLast(
        ({ ask, revision }) => ask.is === 'recent' && revision > simulation.history.base + 20,
      );
      return (
        listing &&
        withListing(simulation.history, listing, { ...listing, revision: simulation.history.base, items: [] })
      );
    }, 'fresh');
  });

  it('finds a write that was refused but happened', () => {
    expectFound(({ history }) => {
      const write = history.operations.find(
        ({ call, result }) => 'token' in call && result.is === 'ok' && call.is !== 'create',
      );
      return write && withOperation(history, write, { ...write, result: { is: 'missing' } });
    }, 'phantom');
  });

  it('finds an object that was deleted although no client deleted it', () => {
    expectFound(({ history }) => {
      const gone = history.operations.find(({ result }) => result.is === 'deleted');
      return (
        gone && {
          ...history,
          operations: history.operations.filter(({ call, name }) => call.is !== 'delete' || name !== gone.name),
        }
      );
    }, 'phantom');
  });

  it('finds two contents of one revision', () => {
    expectFound(({ history }) => {
      const get = history.operations.find(({ call, result }) => call.is === 'get' && result.is === 'ok');
      if (get?.result.is !== 'ok') return undefined;
      return withOperation(history, get, {
        ...get,
        result: { is: 'ok', version: { ...get.result.version, digest: 'other' } },
      });
    }, 'consistent');
  });
});
