import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Collection, Form } from './client.js';
import {
  type History,
  type Item,
  type Selector,
  versionOf,
  type WatchEvent,
  type WatchSession,
  type WireObject,
} from './history.js';
import { endOf } from './ledger.js';
import type { Random } from './random.js';

/** The course of a watch: where its first stream begins, and where each of the next ones begins. */
export interface WatchPlan {
  readonly selector?: Selector;
  /** The revision where a stream begins; undefined: with the initial state. Called with the stream before. */
  readonly from: (before: WatchSession | undefined) => number | undefined;
  /** Longest duration of a stream, in seconds. */
  readonly seconds: number;
  readonly form?: Form;
}

/** A line of a stream. */
interface Frame {
  readonly type: WatchEvent['type'] | 'BOOKMARK' | 'ERROR';
  readonly object: WireObject & { readonly code?: number; readonly rows?: readonly { readonly object: WireObject }[] };
}

let sessions = 0;

/** The query parameter of a selector, with `&` in front. */
export const selectorQuery = (selector: Selector | undefined): string => {
  if (!selector) return '';
  return selector.is === 'color'
    ? `&labelSelector=${encodeURIComponent(`color=${selector.color}`)}`
    : `&fieldSelector=${encodeURIComponent(`metadata.name=${selector.name}`)}`;
};

/** Where a watch resumes: where the previous stream ended, or from the initial state if that revision had expired. */
export const resumeAfter = (before: WatchSession | undefined, first: number | undefined): number | undefined => {
  if (!before) return first;
  if (before.expired) return undefined;
  return before.from === undefined && !before.initial ? undefined : endOf(before);
};

/** Records one stream into a session. Resolves when the stream ends. */
export async function recordStream(
  client: Client,
  collection: Collection,
  namespace: string,
  session: WatchSession,
  { seconds, form = 'plain' }: Pick<WatchPlan, 'seconds' | 'form'>,
  signal: AbortSignal,
): Promise<void> {
  const begin =
    session.from === undefined
      ? '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
      : `&resourceVersion=${session.from}`;
  const items: Item[] = [];
  const path = `${collection.path(namespace)}?watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}${begin}${selectorQuery(session.selector)}`;
  const take = (text: string): void => {
    const { type, object } = JSON.parse(text) as Frame;
    if (type === 'ERROR') {
      session.expired = object.code === 410;
      return;
    }
    const at = performance.now();
    const revision = Number(object.metadata.resourceVersion);
    const waiting = session.from === undefined && !session.initial;
    const shown = object.rows?.[0]?.object ?? object;
    if (type !== 'BOOKMARK') {
      const item = { name: shown.metadata.name, version: versionOf(shown) };
      if (waiting && type === 'ADDED') items.push(item);
      else session.events.push({ ...item, type, at });
    } else if (
      waiting &&
      Object.keys(shown.metadata.annotations ?? {}).some(name => name.endsWith('/initial-events-end'))
    )
      session.initial = { revision, items, at };
    else session.bookmarks.push({ revision, after: session.events.length });
  };
  const status = await client.stream(path, form, take, signal);
  if (status === 410) session.expired = true;
}

/** A watch that continues over any number of streams until it is stopped. */
export class Watch {
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  /** Everything up to this revision was delivered. */
  reached = 0;

  constructor(
    readonly client: Client,
    readonly collection: Collection,
    readonly namespace: string,
    readonly history: History,
    readonly plan: WatchPlan,
    readonly random: Random,
  ) {
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { client, collection, namespace, history, plan, random } = this;
    let before: WatchSession | undefined;
    while (!this.#stop.signal.aborted) {
      const session: WatchSession = {
        id: ++sessions,
        collection: collection.name,
        selector: plan.selector,
        from: plan.from(before),
        start: performance.now(),
        events: [],
        bookmarks: [],
        expired: false,
      };
      history.sessions.push(session);
      await recordStream(
        client,
        collection,
        namespace,
        session,
        { ...plan, seconds: random.between(1, plan.seconds) },
        this.#stop.signal,
      );
      if (session.from !== undefined || session.initial) this.reached = Math.max(this.reached, endOf(session));
      before = session;
      await sleep(random.between(10, 250));
    }
  }
}
