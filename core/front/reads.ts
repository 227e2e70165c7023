import type { Exchange, ResponseStream } from '../api/listener.js';
import { FUTURE_REVISION_MS, LIST_SLICE_BYTES, PAST_PAGE } from '../limits.js';
import { badRequest, invalidObject, methodNotAllowed, notFound, Refusal, type Violation } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import type { Naming } from '../naming.js';
import type { Resource } from '../schema/resource.js';
import type { Rendering, WireEvent } from '../threads/messages.js';
import { Entry } from '../threads/entry.js';
import type { Collection } from './collection.js';
import { compresses, respondWhole, streamCompressed } from './compress.js';
import type { ContinueTokens, Position } from './continueToken.js';
import {
  envelopeLength,
  keyOf,
  type ListOptions,
  listHead,
  listOptionsOf,
  listLength,
  listParts,
  needsConversion,
  predates,
  parseRevision,
  type Selection,
  selectionOf,
} from './list.js';
import { drainOf } from './drain.js';
import { jsonForm } from './negotiated.js';
import { first, flag, integer, type Query } from './query.js';
import { type Headers, JSON_HEADERS } from './reply.js';
import type { Route } from './route.js';
import type { State } from './state.js';
import { warningHeaders } from './warnings.js';
import { type EventForm, seenBy, Watcher, type WatchHub } from './watch.js';

/** Shortest and longest default duration of a watch without timeoutSeconds, in ms (upstream: 30 to 60 minutes). */
const WATCH_MS = 30 * 60_000;

/** What reads need of the front end. */
export interface ReadContext {
  readonly state: State;
  readonly hub: WatchHub;
  readonly tokens: ContinueTokens;
  readonly naming: Naming;
  /** Brings the state up to every acknowledged write. */
  catchUp(): void;
  /**
   * Brings the state up to every write acknowledged anywhere (spec: "Most recent"). Undefined if that is done already, as it is where no other process
   * writes to the store. Throws Refusal 504.
   */
  mostRecent(): Promise<void> | undefined;
  /** Asks the writer for objects at an old revision. Throws Refusal 410. */
  range(
    prefix: string,
    revision: number,
    limit: number,
    after: string,
  ): Promise<{ items: readonly WireEvent[]; more: boolean; remaining: number }>;
  /** Asks the writer for past changes. */
  past(prefix: string, from: number, to: number): Promise<readonly (WireEvent & { previous?: Uint8Array })[]>;
  /** Whether the request wants what the front end holds: JSON of the stored version. */
  wantsJson(exchange: Exchange, resource: Resource, stream?: boolean): boolean;
  /** Throws 406 if the resource has no form that the request accepts. */
  accepts(exchange: Exchange, resource: Resource): void;
  /** Lets the pool render objects in the form the request asks for. */
  render(exchange: Exchange, rendering: Rendering): Promise<void>;
  /** The form of a watch's events that is not plain JSON. Throws 406. */
  eventForm(exchange: Exchange, resource: Resource): EventForm;
}

/** The message and cause that client-go looks for when a version is ahead of the server. */
function tooLarge(revision: number, current: number): Refusal {
  return new Refusal('Timeout', `Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** Waits until the state is at least at `revision` (spec: "Not older than"). Throws 504. */
async function notOlderThan(context: ReadContext, revision: number): Promise<void> {
  context.catchUp();
  if (context.state.revision >= revision) return;
  if (!(await context.state.reaches(revision, FUTURE_REVISION_MS))) throw tooLarge(revision, context.state.revision);
}

/** Answers a get (spec, get table). */
export async function get(context: ReadContext, exchange: Exchange, route: Route, resource: Resource): Promise<void> {
  const target = route.target as ResourceTarget;
  if (flag(route.query, 'export')) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  const plain = context.wantsJson(exchange, resource) && !needsConversion(resource);
  if (!plain) context.accepts(exchange, resource);
  const raw = first(route.query, 'resourceVersion');
  if (raw === '') {
    const recent = context.mostRecent();
    if (recent) await recent;
  } else if (raw !== '0') await notOlderThan(context, parseRevision(raw));
  const entry = context.state.collections.get(resource.storageName)?.entries.get(keyOf(resource, target.namespace, target.name));
  if (!entry) {
    const scale =
      resource.builtIn && route.subresource && route.subresource.kind !== resource.kind ? `/${route.subresource.name}` : '';
    throw notFound({ group: resource.group, resource: resource.plural + scale }, target.name);
  }
  const { subresource: sub } = route;
  if (sub?.connect || sub?.produces)
    throw methodNotAllowed(`get is not supported on ${resource.plural}/${sub.name} by this server`);
  if (plain && !predates(resource, [entry]) && !route.subresource?.type?.id.endsWith('.Scale')) {
    await respondWhole(exchange, headersFor(resource), entry.value);
    return;
  }
  await context.render(exchange, { objects: [entry.value], status: 200 });
}

/** Headers of a JSON answer about the resource. */
const headersFor = ({ warning }: Resource): Headers =>
  warning === undefined ? JSON_HEADERS : [...JSON_HEADERS, ...warningHeaders([warning])];

/** One page of a list. */
export interface Listed {
  readonly revision: number;
  readonly entries: readonly Entry[];
  readonly next?: string;
  readonly remaining?: number;
}

/** Answers a list (spec, list table). */
export async function list(context: ReadContext, exchange: Exchange, route: Route, resource: Resource): Promise<void> {
  const target = route.target as ResourceTarget;
  const plain = context.wantsJson(exchange, resource) && !needsConversion(resource);
  if (!plain) context.accepts(exchange, resource);
  const selection = selectionOf(resource, target, route.query);
  const listed = await pageAsked(context, resource, selection, listOptionsOf(route.query, context.naming));
  if (plain && !predates(resource, listed.entries)) {
    await sendList(exchange, resource, listed);
    return;
  }
  const { revision, next, remaining } = listed;
  const metadata = {
    resourceVersion: String(revision),
    ...(next ? { continue: next } : {}),
    ...(remaining ? { remainingItemCount: remaining } : {}),
  };
  await context.render(exchange, { objects: listed.entries.map(entry => entry.value), status: 200, list: metadata });
}

/** Which entries a deletecollection is about, with the metadata its answer carries: those that a list with the same parameters has. */
export async function select(context: ReadContext, route: Route, resource: Resource): Promise<Listed> {
  const selection = selectionOf(resource, route.target as ResourceTarget, route.query);
  return await pageAsked(context, resource, selection, listOptionsOf(route.query, context.naming));
}

async function pageAsked(context: ReadContext, resource: Resource, selection: Selection, options: ListOptions): Promise<Listed> {
  const position = options.token && !selection.single ? context.tokens.decode(options.token) : undefined;
  const exact = position ? position.revision || undefined : exactRevision(options) ? options.revision : undefined;
  const after = position && selection.prefix + position.after;
  const collection = context.state.collections.get(resource.storageName)!;
  if (exact === undefined) {
    if (options.revision === undefined) {
      const recent = context.mostRecent();
      if (recent) await recent;
    } else if (options.revision > 0) await notOlderThan(context, options.revision);
  } else {
    await notOlderThan(context, exact);
    if (collection.revision > exact)
      return await atRevision(context, collection, selection, options.limit, exact, after ?? '').catch(error => {
        throw position ? afresh(error, context, position) : error;
      });
  }
  const revision = exact ?? context.state.revision;
  return pageOf(context, selection, revision, options.limit, currentPage(collection, selection, options.limit, after));
}

/** An expired token's refusal comes with a token to go on from the same place in the list as it is now. */
function afresh(error: unknown, context: ReadContext, position: Position): unknown {
  if (!(error instanceof Refusal) || error.reason !== 'Expired') return error;
  return new Refusal(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. Start a new list without it, or use the continue ' +
      'token of this response for the remaining items as they are now; that list may not be consistent with the pages before.',
    undefined,
    undefined,
    { continue: context.tokens.encode({ ...position, revision: 0 }) },
  );
}

const exactRevision = (options: ListOptions): boolean =>
  options.revision !== undefined &&
  options.revision > 0 &&
  (options.match === 'Exact' || (options.match === '' && options.limit > 0));

interface EntryPage {
  readonly entries: readonly Entry[];
  readonly more: boolean;
  readonly remaining: number;
}

/** The current entries that a selection chooses, in key order. */
function currentPage(collection: Collection, selection: Selection, limit: number, after: string | undefined): EntryPage {
  const entries: Entry[] = [];
  let more = false;
  collection.entries.each(selection.prefix, after, entry => {
    more = limit > 0 && entries.length >= limit && !selection.single;
    if (!more && (!selection.filtered || selection.matches(collection, entry))) entries.push(entry);
    return !more;
  });
  const remaining = more && !selection.filtered ? collection.entries.count(selection.prefix, entries.at(-1)!.key) : 0;
  return { entries, more, remaining };
}

function pageOf(context: ReadContext, selection: Selection, revision: number, limit: number, page: EntryPage): Listed {
  const { entries } = page;
  if (!page.more || limit === 0) return { revision, entries };
  const next = context.tokens.encode({ revision, after: page.entries.at(-1)!.key.slice(selection.prefix.length) });
  return { revision, entries, next, ...(selection.filtered ? {} : { remaining: page.remaining }) };
}

/** A page of a collection as it was at an old revision, from the store. */
async function atRevision(
  context: ReadContext,
  collection: Collection,
  selection: Selection,
  limit: number,
  revision: number,
  after: string,
): Promise<Listed> {
  const entries: Entry[] = [];
  const asked = limit > 0 && !selection.filtered ? limit : PAST_PAGE;
  let from = after;
  for (;;) {
    const page = await context.range(selection.prefix, revision, asked, from);
    for (const item of page.items) {
      const entry = Entry.of(item);
      if (selection.matches(collection, entry)) entries.push(entry);
    }
    from = page.items.at(-1)?.key ?? from;
    if (!page.more || (limit > 0 && entries.length >= limit)) {
      const kept = limit > 0 && entries.length > limit ? entries.slice(0, limit) : entries;
      const more = (page.more || kept.length < entries.length) && !selection.single;
      return pageOf(context, selection, revision, limit, {
        entries: kept,
        more,
        remaining: page.remaining + entries.length - kept.length,
      });
    }
  }
}

/** Sends a list; a long one as a stream, in slices, that waits for a slow reader. */
async function sendList(exchange: Exchange, resource: Resource, listed: Listed): Promise<void> {
  const head = listHead(resource, listed.revision, listed.next, listed.remaining);
  const skip = envelopeLength(resource);
  const headers = headersFor(resource);
  const length = listLength(head, listed.entries, skip);
  const parts = listParts(head, listed.entries, skip);
  if (compresses(exchange, length)) return await streamCompressed(exchange, headers, parts);
  if (length <= LIST_SLICE_BYTES) return exchange.respond(200, headers, [...parts]);
  const stream = exchange.stream(200, headers);
  const drained = drainOf(exchange, stream);
  let slice = 0;
  for (const part of parts) {
    const unsent = stream.write(part);
    slice += part.length;
    if (slice < LIST_SLICE_BYTES) continue;
    slice = 0;
    if (unsent > 4 * LIST_SLICE_BYTES) await drained();
    else await new Promise(resolve => setImmediate(resolve));
    if (exchange.aborted) return;
  }
  stream.end();
}

/** The options of a watch, checked as upstream checks them. */
function watchOptions(
  query: Query,
  naming: Naming,
): { revision?: number; initial: boolean; bookmarks: boolean; timeoutMs: number } {
  const match = first(query, 'resourceVersionMatch');
  const sendInitial = query.has('sendInitialEvents');
  const violations: Violation[] = [];
  const forbid = (message: string) =>
    violations.push({ reason: 'FieldValueForbidden', field: 'resourceVersionMatch', message: `Forbidden: ${message}` });
  if (first(query, 'continue')) throw badRequest('continue is not allowed for a watch');
  integer(query, 'limit');
  if (sendInitial && match !== 'NotOlderThan') forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (!sendInitial && match) forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  if (match && match !== 'NotOlderThan') {
    violations.push({
      reason: 'FieldValueNotSupported',
      field: 'resourceVersionMatch',
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
    });
  }
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  const raw = first(query, 'resourceVersion');
  const revision = raw === '' || raw === '0' ? undefined : parseRevision(raw);
  const initial = sendInitial ? flag(query, 'sendInitialEvents') : revision === undefined;
  const seconds = integer(query, 'timeoutSeconds') ?? 0;
  return {
    revision,
    initial,
    bookmarks: flag(query, 'allowWatchBookmarks'),
    timeoutMs: seconds > 0 ? Math.min(seconds * 1000, 2 ** 31 - 1) : WATCH_MS * (1 + Math.random()),
  };
}

const NEWLINE = Buffer.from('\n');

/** Whether a watch begins where objects of another schema are. */
const showsOld = ({ state }: ReadContext, resource: Resource, options: { revision?: number; initial: boolean }): boolean =>
  (!options.initial && (options.revision ?? state.revision) < resource.changedAt!) ||
  predates(resource, state.collections.get(resource.storageName)!.entries.range(''));

/** Answers a watch (spec, watch table and "Events"). */
export async function watch(context: ReadContext, exchange: Exchange, route: Route, resource: Resource): Promise<void> {
  const { query } = route;
  const options = watchOptions(query, context.naming);
  const selection = selectionOf(resource, route.target as ResourceTarget, query);
  const plain =
    context.wantsJson(exchange, resource, true) &&
    !needsConversion(resource) &&
    !(resource.changedAt && showsOld(context, resource, options));
  const form = plain ? jsonForm(resource, context.naming) : context.eventForm(exchange, resource);
  const recent = first(query, 'resourceVersion') === '' ? context.mostRecent() : context.catchUp();
  if (recent) await recent;
  const { state, hub } = context;
  if (hub.finished) throw new Refusal('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 });
  const collection = state.collections.get(resource.storageName)!;
  const stream = exchange.stream(200, [
    ['content-type', form.mediaType],
    ['cache-control', 'no-cache, private'],
    ...headersFor(resource).filter(([name]) => name === 'warning'),
  ]);
  // Without events the headers would stay behind; white space between JSON documents is nothing to a client.
  const blank = form.mediaType.startsWith('application/json');
  if (blank) stream.write(NEWLINE);
  if (options.initial && options.revision !== undefined && !(await arrives(context, options.revision, stream, form))) return;
  if (exchange.aborted) return;
  if (hub.finished) return stream.end();
  const start = options.initial ? state.revision : (options.revision ?? state.revision);
  const watcher = new Watcher(
    selection,
    collection,
    stream,
    form,
    Math.max(start, options.initial ? 0 : (options.revision ?? 0)),
    options.bookmarks,
    w => hub.remove(w),
  );
  exchange.onAbort(() => watcher.ended());
  hub.add(watcher);
  watcher.start(options.timeoutMs, () => state.revision);
  if (options.initial) {
    const mark =
      options.bookmarks && (query.has('sendInitialEvents') || first(query, 'resourceVersion') === '') ? start : undefined;
    await watcher.catchUp(initialOf(collection, selection), mark);
  } else await resume(context, watcher, selection, collection, start);
  if (!blank) watcher.openWithBookmark(state.revision);
}

/** Waits for the version that the initial events must not be older than. What a stream's start finds out is an event of it: an ERROR, and the end. */
async function arrives(context: ReadContext, revision: number, stream: ResponseStream, form: EventForm): Promise<boolean> {
  try {
    await notOlderThan(context, revision);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    stream.write(form.error(error));
    stream.end();
    return false;
  }
}

const initialOf = (collection: Collection, selection: Selection) =>
  currentPage(collection, selection, 0, undefined).entries.map(entry => ({ type: 'ADDED' as const, object: entry.value }));

/** Sends what happened after `from`, from memory or from the store; an expired version ends the watch with 410. */
async function resume(
  context: ReadContext,
  watcher: Watcher,
  selection: Selection,
  collection: Collection,
  from: number,
): Promise<void> {
  const { state } = context;
  const to = state.revision;
  const remembered = from >= state.history.floor ? state.history.after(from).filter(c => c.collection === collection) : undefined;
  try {
    const changes = remembered ?? (await replay(context, selection, collection, from, to));
    await watcher.catchUp(
      changes.filter(c => c.revision <= to).flatMap(change => seenBy(selection, change) ?? []),
      undefined,
    );
  } catch (error) {
    const expired = error instanceof Refusal && error.reason === 'Expired';
    watcher.fail(
      expired
        ? new Refusal('Expired', `too old resource version: ${from} (${state.history.floor})`)
        : new Refusal('InternalError', 'past events could not be read'),
    );
  }
}

async function replay(context: ReadContext, selection: Selection, collection: Collection, from: number, to: number) {
  const past = await context.past(selection.prefix, from, to);
  return past.map(event => ({
    revision: event.revision,
    collection,
    ...(event.value ? { after: Entry.of(event) } : {}),
    ...(event.previous ? { before: new Entry(event.key, event.revision, event.previous) } : {}),
    encodings: new Map(),
  }));
}
