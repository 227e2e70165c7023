import type { ByteAhead, Exchange, ResponseStream } from '../../core/api/listener.js';
import { badRequest, invalidObject, Refusal, type Violation } from '../../core/model/refusal.js';
import { WEBSOCKET_VERSION } from '../../core/model/webSocket.js';
import type { Naming } from '../../core/naming.js';
import type { Resource } from '../../core/schema/resource.js';
import { Entry } from '../../core/threads/entry.js';
import { type Change, type Collection, unparsedWeight } from './collection.js';
import { notOlderThan, type ReadContext } from './context.js';
import { validateListOptions } from '../../core/request/listOptions.js';
import { needsConversion, predates } from './list.js';
import { parseRevision } from '../../core/request/resourceVersion.js';
import { type Selection, selectionOf } from './selection.js';
import { jsonForm } from './negotiated.js';
import { currentPage } from './listPage.js';
import { firstValue, parseFlag, parseInteger, type Query } from '../../core/request/query.js';
import { type Headers, headersFor, refuse } from './reply.js';
import type { Route } from '../../core/request/route.js';
import { type EventForm, type Seen, seenBy, Watcher } from './watch.js';
import { acceptWebSocket, webSocketFault } from './webSocket.js';

/** Shortest and longest default duration of a watch without timeoutSeconds, in ms (upstream: 30 to 60 minutes). */
const WATCH_MS = 30 * 60_000;

/** What is wrong with the combination of options; the same findings as upstream's. */
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
 * The options of a watch, checked as upstream checks them: those of a `/watch/` path that does not say `watch` itself
 * like a list's.
 */
function watchOptions({ query, watchPath }: Route, naming: Naming): { bookmarks: boolean; timeoutMs: number } {
  if (firstValue(query, 'continue')) throw badRequest('continue is not allowed for a watch');
  parseInteger(query, 'limit');
  const seconds = parseInteger(query, 'timeoutSeconds') ?? 0;
  const violations = watchPath && !parseFlag(query, 'watch') ? validateListOptions(query) : watchViolations(query);
  if (violations.length > 0) throw invalidObject(naming.group('meta.orchestrator.io'), 'ListOptions', '', violations);
  return {
    bookmarks: parseFlag(query, 'allowWatchBookmarks'),
    // As upstream a time that is over ends the watch at once; none is one of the server's choice.
    timeoutMs: seconds === 0 ? WATCH_MS * (1 + Math.random()) : Math.min(Math.max(0, seconds) * 1000, 2 ** 31 - 1),
  };
}

/**
 * Where a watch begins: after a version, or with the present objects (at least as new as the version, if one is given).
 */
function startOf(query: Query): { revision?: number; initial: boolean } {
  const raw = firstValue(query, 'resourceVersion');
  const revision = (raw === '' ? 0 : parseRevision(raw)) || undefined;
  return {
    revision,
    initial: query.has('sendInitialEvents') ? parseFlag(query, 'sendInitialEvents') : revision === undefined,
  };
}

/** White space before a document. Not a line of its own: clients that read lines take each for an event. */
const BLANK: ByteAhead = { value: 0x20, partOfWrite: false };
/** The first of the four bytes of a frame's length: no object is so large that it is another. */
const FRAME_START: ByteAhead = { value: 0, partOfWrite: true };
/** Events of a watch this short may reach the client with its end. */
const BRIEF_MS = 1000;
/** The Java client that throws on white space behind the last event; it reads chunks before they are complete. */
const READS_LINES = /^\S+ Java Client\//;

/**
 * What may be sent ahead of an event. A client that reads to the end gets it behind the last event as well, so that
 * nothing is sent ahead where nobody waits for it.
 */
function aheadOf(exchange: Exchange, form: EventForm, timeoutMs: number): ByteAhead | undefined {
  if (timeoutMs <= BRIEF_MS) return undefined;
  if (!form.mediaType.startsWith('application/json')) return FRAME_START;
  return READS_LINES.test(exchange.header('user-agent') ?? '') ? undefined : BLANK;
}

/** Whether a watch begins where objects of another schema are. */
const showsOld = (
  { state }: ReadContext,
  resource: Resource,
  options: { revision?: number; initial: boolean },
): boolean =>
  (!options.initial && (options.revision ?? state.revision) < resource.changedAt!) ||
  predates(resource, state.collections.get(resource.storageName)!.entries.range(''));

/** What a client that asks for another version of WebSockets is told (RFC 6455, 4.4). */
const WEBSOCKET_HEADERS: Headers = [['sec-websocket-version', WEBSOCKET_VERSION]];

/** Answers a watch (spec, "Resource version semantics: watch" and "Events (watch)"). */
export async function watch(context: ReadContext, exchange: Exchange, route: Route, resource: Resource): Promise<void> {
  const { query } = route;
  const fault = webSocketFault(exchange);
  if (fault !== undefined) return refuse(exchange, badRequest(fault), context.naming, WEBSOCKET_HEADERS);
  const json = context.wantsJson(exchange, resource, true);
  if (!json) context.accepts(exchange, resource, true);
  const checked = watchOptions(route, context.naming);
  const selection = selectionOf(resource, route);
  const options = { ...checked, ...startOf(query) };
  const plain = json && !needsConversion(resource) && !(resource.changedAt && showsOld(context, resource, options));
  const listed = options.initial && query.has('sendInitialEvents');
  const form = plain ? jsonForm(resource, context.naming, listed) : context.eventForm(exchange, resource, listed);
  const recent = firstValue(query, 'resourceVersion') === '' ? context.mostRecent() : context.catchUp();
  if (recent) await recent;
  const { state, hub } = context;
  if (hub.finished) throw new Refusal('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 });
  const collection = state.collections.get(resource.storageName)!;
  const stream =
    acceptWebSocket(exchange, form) ??
    exchange.stream(200, headersFor(resource, form.mediaType), { ahead: aheadOf(exchange, form, options.timeoutMs) });
  const asked = firstValue(query, 'resourceVersion');
  if (
    options.initial &&
    options.revision !== undefined &&
    !(await arrives(context, options.revision, asked, stream, form))
  )
    return;
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
      options.bookmarks && (query.has('sendInitialEvents') || firstValue(query, 'resourceVersion') === '')
        ? start
        : undefined;
    await watcher.catchUp(await initialOf(context, collection, selection), mark);
  } else await resume(context, watcher, selection, collection, start);
}

/**
 * Waits for the version that the initial events must not be older than. What a stream's start finds out is an event of
 * it: an ERROR, and the end.
 */
async function arrives(
  context: ReadContext,
  revision: number,
  asked: string,
  stream: ResponseStream,
  form: EventForm,
): Promise<boolean> {
  try {
    await notOlderThan(context, revision, asked);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    stream.write(form.error(error));
    stream.end();
    return false;
  }
}

/** The objects that a watch begins with: those of the collection when this is called. */
async function initialOf({ slices }: ReadContext, collection: Collection, selection: Selection): Promise<Seen[]> {
  const { entries } = await currentPage(collection, selection, slices);
  return entries.map(entry => ({ type: 'ADDED', object: entry.value }));
}

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
  const remembered = from >= state.history.floor ? state.history.after(from, collection) : undefined;
  try {
    const changes = remembered ?? (await replay(context, selection, collection, from, to));
    await watcher.catchUp(await seenOf(context, selection, changes, to), undefined);
  } catch (error) {
    const expired = error instanceof Refusal && error.reason === 'Expired';
    watcher.fail(
      expired
        ? new Refusal('Expired', `too old resource version: ${from} (${state.history.floor})`)
        : new Refusal('InternalError', 'past events could not be read'),
    );
  }
}

/** What changes up to a revision look like through a selection. */
async function seenOf(
  { slices }: ReadContext,
  selection: Selection,
  changes: readonly Change[],
  to: number,
): Promise<Seen[]> {
  const found: Seen[] = [];
  await slices.forEach(
    changes,
    change => {
      if (change.revision > to) return true;
      const seen = seenBy(selection, change);
      if (seen) found.push(seen);
      return true;
    },
    ({ after, before }) => (after ? unparsedWeight(after) : 0) + (before ? unparsedWeight(before) : 0),
  );
  return found;
}

async function replay(context: ReadContext, selection: Selection, collection: Collection, from: number, to: number) {
  const past = await context.past(selection.prefix, from, to);
  return past.map(event => ({
    revision: event.revision,
    collection,
    ...(event.value ? { after: Entry.of(event) } : {}),
    ...(event.previous ? { before: new Entry(event.key, event.revision, event.previous) } : {}),
    encodings: undefined,
  }));
}
