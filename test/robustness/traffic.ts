import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Client, type Collection, COLLECTIONS } from './client.js';
import {
  type Call,
  type History,
  type Item,
  type Listing,
  type Operation,
  type Result,
  type Selector,
  TOKEN,
  type Version,
  versionOf,
  type WireObject,
} from './history.js';
import type { Random } from './random.js';
import { selectorQuery } from './watcher.js';

export const COLORS = ['red', 'green', 'blue'];
export const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'];
/** Share of writes with objects of a few kilobytes. */
const LARGE = 0.05;
/** Share of updates that are sent several times concurrently, of which only one can succeed. */
const RACES = 0.4;
/** The calls of clients, and their frequency. Of 100 calls, 80 are reads. */
const ACTIONS = [
  ['get', 28],
  ['oldGet', 12],
  ['list', 14],
  ['oldList', 12],
  ['pages', 12],
  ['create', 8],
  ['update', 7],
  ['patch', 5],
  ['delete', 1.7],
  ['deleteCollection', 0.3],
] as const;

/** The common state of the clients of a round. */
export interface Round {
  readonly history: History;
  readonly namespace: string;
  newest: number;
  operations: number;
  /** Number of writes so far, for tokens. */
  writes: number;
  unknown: number;
  /** Descriptions of answers that no client should get. */
  readonly unexpected: string[];
}

/** A client that behaves like a controller: it reads, remembers objects, and writes based on them. */
export class Controller {
  /** The last version of each object that it saw, which is often old. */
  readonly #seen = new Map<string, Version>();
  /** Additional delay in milliseconds because its last call failed. */
  #backoff = 0;

  constructor(
    readonly client: Client,
    readonly round: Round,
    readonly random: Random,
    /** Mean time between two calls, in milliseconds. */
    readonly pause: number,
  ) {}

  /** Works until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.random.next() * 2 * this.pause + this.#backoff);
      this.#backoff = 0;
      await this[this.random.weighted(ACTIONS)](this.random.pick(COLLECTIONS), this.random.pick(NAMES));
    }
  }

  get(collection: Collection, name: string): Promise<void> {
    return this.#call(collection, name, { is: 'get' }, 'GET', this.#path(collection, name));
  }

  oldGet(collection: Collection, name: string): Promise<void> {
    const at = this.random.chance(0.5) ? 0 : this.round.newest;
    return this.#call(
      collection,
      name,
      { is: 'get', at },
      'GET',
      `${this.#path(collection, name)}?resourceVersion=${at}`,
    );
  }

  create(collection: Collection, name: string): Promise<void> {
    const { token, metadata } = this.#content();
    const path = collection.path(this.round.namespace);
    return this.#call(collection, name, { is: 'create', token }, 'POST', path, { metadata: { ...metadata, name } });
  }

  /** Updates the version it has just read, or an older one, which often conflicts. */
  async update(collection: Collection, name: string): Promise<void> {
    if (this.random.chance(0.6)) await this.get(collection, name);
    const expect = this.#seen.get(`${collection.name}/${name}`)?.revision;
    if (expect === undefined) return;
    const racers = this.random.chance(RACES) ? this.random.between(2, 4) : 1;
    await Promise.all(Array.from({ length: racers }, () => this.#updateFrom(collection, name, expect)));
  }

  #updateFrom(collection: Collection, name: string, expect: number): Promise<void> {
    const { token, metadata } = this.#content();
    const body = { metadata: { ...metadata, name, resourceVersion: String(expect) } };
    const call: Call = { is: 'update', token, expect };
    if (this.random.chance(0.7))
      return this.#call(
        collection,
        name,
        { ...call, creates: collection.creates },
        'PUT',
        this.#path(collection, name),
        body,
      );
    return this.#call(collection, name, call, 'PATCH', this.#path(collection, name), body, MERGE);
  }

  patch(collection: Collection, name: string): Promise<void> {
    const { token, metadata } = this.#content();
    return this.#call(
      collection,
      name,
      { is: 'patch', token },
      'PATCH',
      this.#path(collection, name),
      { metadata },
      MERGE,
    );
  }

  delete(collection: Collection, name: string): Promise<void> {
    const seen = this.#seen.get(`${collection.name}/${name}`);
    const expect = seen && this.random.chance(0.4) ? seen.revision : undefined;
    const body = expect === undefined ? {} : { preconditions: { resourceVersion: String(expect) } };
    return this.#call(collection, name, { is: 'delete', expect }, 'DELETE', this.#path(collection, name), body);
  }

  /**
   * Deletes the objects of a color. Recorded as a delete of each object, because the answer does not list the deleted
   * objects.
   */
  async deleteCollection(collection: Collection): Promise<void> {
    const { round } = this;
    const path = `${collection.path(round.namespace)}?labelSelector=color%3D${this.random.pick(COLORS)}`;
    const start = performance.now();
    const answer = await this.client.call('DELETE', path);
    const end = performance.now();
    if (answer.status !== 200 && !INCONCLUSIVE.has(answer.status))
      round.unexpected.push(`DELETE ${path}: ${JSON.stringify(answer).slice(0, 500)}`);
    for (const name of NAMES) {
      const result = { is: 'unknown', reason: 'one of many' } as const;
      const operation = {
        id: ++round.operations,
        collection: collection.name,
        name,
        call: { is: 'delete' },
        start,
        end,
        result,
      } as const;
      round.history.operations.push(operation);
    }
  }

  list(collection: Collection): Promise<void> {
    return this.#list(collection, { is: 'recent' }, '', this.#selector());
  }

  async oldList(collection: Collection): Promise<void> {
    const revision = this.round.newest - this.random.between(0, 20);
    if (revision <= this.round.history.base || this.random.chance(0.3))
      return this.#list(collection, { is: 'any' }, '&resourceVersion=0', this.#selector());
    const match = this.random.pick(['Exact', 'NotOlderThan'] as const);
    const ask = { is: match === 'Exact' ? ('exact' as const) : ('notOlder' as const), revision };
    return this.#list(collection, ask, `&resourceVersion=${revision}&resourceVersionMatch=${match}`, this.#selector());
  }

  pages(collection: Collection): Promise<void> {
    return this.#list(collection, { is: 'recent' }, `&limit=${this.random.between(1, 4)}`, this.#selector());
  }

  #selector(): Selector | undefined {
    if (this.random.chance(0.5)) return undefined;
    return this.random.chance(0.8)
      ? { is: 'color', color: this.random.pick(COLORS) }
      : { is: 'name', name: this.random.pick(NAMES) };
  }

  #path(collection: Collection, name: string): string {
    return `${collection.path(this.round.namespace)}/${name}`;
  }

  #content(): { token: string; metadata: object } {
    const token = `${this.round.namespace}-${++this.round.writes}`;
    const fill = this.random.chance(LARGE) ? { fill: 'x'.repeat(this.random.between(1000, 30_000)) } : {};
    return {
      token,
      metadata: { labels: { color: this.random.pick(COLORS) }, annotations: { [TOKEN]: token, ...fill } },
    };
  }

  /** Makes a call about one object and records it. */
  async #call(
    collection: Collection,
    name: string,
    call: Call,
    method: string,
    path: string,
    body?: object,
    type?: string,
  ): Promise<void> {
    const { round } = this;
    const id = ++round.operations;
    const start = performance.now();
    const form = call.is === 'get' && this.random.chance(0.2) ? 'partial' : 'plain';
    const answer = await this.client.call(method, path, body, type, form);
    const end = performance.now();
    const result = resultOf(call, answer);
    if (!result) {
      round.unexpected.push(`${method} ${path}: ${JSON.stringify(answer).slice(0, 500)}`);
      return;
    }
    if (result.is === 'unknown') {
      round.unknown++;
      this.#backoff = this.random.between(50, 600);
    }
    const operation: Operation = { id, collection: collection.name, name, call, start, end, result };
    round.history.operations.push(operation);
    if (result.is === 'ok') this.#remember(collection, { name, version: result.version });
  }

  #remember(collection: Collection, { name, version }: Item): void {
    this.#seen.set(`${collection.name}/${name}`, version);
    this.round.newest = Math.max(this.round.newest, version.revision);
  }

  /** Lists page by page and records the list, unless there is no answer or a page has expired. */
  async #list(
    collection: Collection,
    ask: Listing['ask'],
    query: string,
    selector: Selector | undefined,
  ): Promise<void> {
    const { round } = this;
    const start = performance.now();
    const items: Item[] = [];
    let revision = 0;
    let token = '';
    const form = this.random.chance(0.2) ? 'partialList' : 'plain';
    do {
      const path = token
        ? `?continue=${encodeURIComponent(token)}&limit=${this.random.between(1, 4)}${selectorQuery(selector)}`
        : `?${`${query}${selectorQuery(selector)}`.slice(1)}`;
      round.operations++;
      const answer = await this.client.call('GET', collection.path(round.namespace) + path, undefined, undefined, form);
      if (answer.status !== 200) {
        if (!INCONCLUSIVE.has(answer.status) && answer.status !== 410)
          round.unexpected.push(`GET ${collection.name}${path}: ${JSON.stringify(answer).slice(0, 500)}`);
        return;
      }
      const page = answer.body as unknown as List;
      if (token && Number(page.metadata.resourceVersion) !== revision)
        round.unexpected.push(
          `a page of ${collection.name} is of ${page.metadata.resourceVersion} instead of ${revision}`,
        );
      revision = Number(page.metadata.resourceVersion);
      for (const object of page.items ?? []) items.push({ name: object.metadata.name, version: versionOf(object) });
      token = page.metadata.continue ?? '';
    } while (token);
    round.history.listings.push({
      collection: collection.name,
      start,
      end: performance.now(),
      ask,
      selector,
      revision,
      items,
    });
    for (const item of items) this.#remember(collection, item);
    round.newest = Math.max(round.newest, revision);
  }
}

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** null in an empty list of metadata. */
  readonly items: readonly WireObject[] | null;
}

const MERGE = 'application/merge-patch+json';
/** Statuses after which it is unknown whether a write took place; 0: no answer. */
const INCONCLUSIVE = new Set([0, 500, 502, 503, 504]);

/** The result of a call according to its answer; undefined if no correct server sends it. */
function resultOf(call: Call, answer: Answer): Result | undefined {
  const { status, body } = answer;
  if (INCONCLUSIVE.has(status)) return { is: 'unknown', reason: answer.reason ?? `${status} ${body.message}` };
  if (status === 429) return { is: 'refused', reason: 'too many requests' };
  if (status === 404) return call.is === 'create' ? undefined : { is: 'missing' };
  if (status === 409) {
    if (call.is === 'create') return body.reason === 'AlreadyExists' ? { is: 'exists' } : undefined;
    if (call.is === 'patch' || (call.is === 'delete' && call.expect === undefined))
      return { is: 'refused', reason: 'lost too many races' };
    return body.reason === 'Conflict' ? { is: 'conflict' } : undefined;
  }
  if (call.is === 'delete')
    return status === 200 && body.details?.uid ? { is: 'deleted', uid: body.details.uid } : undefined;
  if (status === 201 && !(call.is === 'create' || (call.is === 'update' && call.creates))) return undefined;
  return status === 200 || status === 201 ? { is: 'ok', version: versionOf(body as WireObject) } : undefined;
}
