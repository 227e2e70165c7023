import {
  type Call,
  type History,
  type Item,
  type Listing,
  type Operation,
  selects,
  type Selector,
  type Version,
  type WatchEvent,
  type WatchSession,
} from './history.js';
import { Random } from './random.js';

/** A change of the simulated store. */
interface Step {
  readonly revision: number;
  readonly name: string;
  readonly before?: Version;
  readonly after?: Version;
  readonly at: number;
}

const NAMES = ['a', 'b', 'c'];
const COLORS = ['red', 'green'];
const COLLECTION = 'things';
const BASE = 100;

/**
 * Creates the history of a correct server: a store that keeps every guarantee, with clients whose calls overlap. Each
 * call takes effect at one moment between its start and its end. Some answers are lost.
 */
export class Simulation {
  readonly steps: Step[] = [];
  readonly #random: Random;
  readonly #current = new Map<string, Version>();
  readonly history: History = { base: BASE, operations: [], listings: [], sessions: [] };
  #revision = BASE;
  #time = 0;
  #next = 1;

  constructor(seed: number, operations: number) {
    this.#random = new Random(seed);
    for (let i = 0; i < operations; i++) this.#random.chance(0.2) ? this.#list() : this.#operate();
    this.addSession(undefined, BASE);
    for (let i = 0; i < 6; i++)
      this.addSession(
        this.#random.pick([undefined, { is: 'color', color: 'red' }, { is: 'name', name: 'a' }]),
        this.#anyRevision(),
      );
    for (let i = 0; i < 3; i++) this.#addInitialSession(this.#random.pick([undefined, { is: 'color', color: 'red' }]));
  }

  get revision(): number {
    return this.#revision;
  }

  /** Adds a stream from a revision to the end, with bookmarks. */
  addSession(selector: Selector | undefined, from: number, initial?: WatchSession['initial']): WatchSession {
    const events: WatchEvent[] = [];
    const bookmarks: { revision: number; after: number }[] = [];
    for (const step of this.steps) {
      if (step.revision <= (initial?.revision ?? from)) continue;
      const event = eventOf(step, selector);
      if (event) events.push(event);
      if (this.#random.chance(0.1)) bookmarks.push({ revision: step.revision, after: events.length });
    }
    bookmarks.push({ revision: this.#revision, after: events.length });
    const session: WatchSession = {
      ...{
        id: this.history.sessions.length + 1,
        collection: COLLECTION,
        selector,
        start: initial ? initial.at - 1 : 0,
      },
      ...{ from: initial ? undefined : from, initial, events, bookmarks, expired: false },
    };
    this.history.sessions.push(session);
    return session;
  }

  #anyRevision(): number {
    return this.#random.between(BASE, this.#revision);
  }

  /** The objects at a revision that match the selector. */
  #itemsAt(revision: number, selector: Selector | undefined): Item[] {
    const items = new Map<string, Item>();
    for (const { name, after, revision: at } of this.steps) {
      if (at > revision) break;
      if (after && selects(selector, { name, version: after })) items.set(name, { name, version: after });
      else items.delete(name);
    }
    return [...items.values()];
  }

  /** Adds a stream that begins with the initial state. */
  #addInitialSession(selector: Selector | undefined): void {
    const at = this.#random.between(0, this.steps.length - 1);
    const { revision, at: time } = this.steps[at]!;
    const next = this.steps[at + 1]?.at ?? this.#time + 100;
    this.addSession(selector, 0, { revision, items: this.#itemsAt(revision, selector), at: time + (next - time) / 2 });
  }

  /** The next moment, with a start before and an end after it that may overlap with other calls. */
  #nextInstant(): { start: number; end: number; at: number } {
    this.#time += 10;
    const at = this.#time;
    return { at, start: at - 1 - this.#random.next() * 40, end: at + 1 + this.#random.next() * 40 };
  }

  #list(): void {
    const { start, end } = this.#nextInstant();
    const selector: Selector | undefined = this.#random.chance(0.5) ? { is: 'color', color: 'red' } : undefined;
    const exact = this.#random.chance(0.3) ? this.#anyRevision() : undefined;
    const revision = exact ?? this.#revision;
    const ask: Listing['ask'] = exact === undefined ? { is: 'recent' } : { is: 'exact', revision: exact };
    this.history.listings.push({
      collection: COLLECTION,
      start,
      end,
      ask,
      selector,
      revision,
      items: this.#itemsAt(revision, selector),
    });
  }

  #operate(): void {
    const { start, end, at } = this.#nextInstant();
    const id = this.#next++;
    const name = this.#random.pick(NAMES);
    const call = this.#call(id, this.#current.get(name));
    const result = this.#apply(call, name, at);
    const lost = call.is !== 'get' && this.#random.chance(0.1);
    this.history.operations.push({
      ...{ id, collection: COLLECTION, name, call, start, end },
      result: lost ? { is: 'unknown', reason: 'lost' } : result,
    });
  }

  #call(id: number, current: Version | undefined): Call {
    const token = `w${id}`;
    const kind = this.#random.pick(['get', 'get', 'create', 'update', 'patch', 'delete'] as const);
    if (kind === 'update')
      return {
        is: 'update',
        token,
        expect: this.#random.chance(0.7) && current ? current.revision : this.#anyRevision(),
      };
    if (kind === 'delete')
      return { is: 'delete', expect: this.#random.chance(0.3) ? (current?.revision ?? BASE) : undefined };
    return kind === 'get' ? { is: 'get' } : { is: kind, token };
  }

  #apply(call: Call, name: string, at: number): Operation['result'] {
    const before = this.#current.get(name);
    if (call.is === 'create' && before) return { is: 'exists' };
    if (call.is !== 'create' && !before) return { is: 'missing' };
    if (call.is === 'get') return { is: 'ok', version: before! };
    if ('expect' in call && call.expect !== undefined && call.expect !== before?.revision) return { is: 'conflict' };
    const revision = ++this.#revision;
    if (call.is === 'delete') {
      this.#current.delete(name);
      this.steps.push({ revision, name, before, at });
      return { is: 'deleted', uid: before!.uid };
    }
    const color = this.#random.pick(COLORS);
    const uid = before?.uid ?? `u${revision}`;
    const after: Version = { revision, uid, token: call.token, color, digest: `${uid} ${call.token} ${color}` };
    this.#current.set(name, after);
    this.steps.push({ revision, name, before, after, at });
    return { is: 'ok', version: after };
  }
}

function eventOf({ name, before, after, revision, at }: Step, selector: Selector | undefined): WatchEvent | undefined {
  const was = before !== undefined && selects(selector, { name, version: before });
  const is = after !== undefined && selects(selector, { name, version: after });
  const received = at + 100_000;
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', name, version: after, at: received };
  return was ? { type: 'DELETED', name, version: { ...before, revision }, at: received } : undefined;
}
