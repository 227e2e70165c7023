import type { ByteAhead, Exchange, ResponseStream } from '../../../core/api/listener.js';
import { Refusal } from '../../../core/model/refusal.js';
import { checkNumbers } from '../../../core/request/listOptions.js';
import { CBOR_SEQUENCE, CBOR_TAG } from '../../../core/schema/cbor/cbor.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Collection } from '../state/collection.js';
import { notOlderThan, type ReadContext } from '../reads/readContext.js';
import { needsConversion, predates } from '../forms/storedList.js';
import { currentPage } from '../reads/listPage.js';
import { storedEvents } from '../forms/events.js';
import { headersFor } from '../answers/reply.js';
import { parseSelectors, type Selection, selectionOf } from '../reads/selection.js';
import type { FrontRequest } from '../access/sender.js';
import type { Usage } from '../fairness/usage.js';
import { pastEvents } from './pastEvents.js';
import type { EventForm, InitialEvent } from './watchEvents.js';
import { Watcher } from './watcher.js';
import { parseWatchOptions, type WatchOptions } from './watchOptions.js';
import { acceptWebSocket } from './webSocket.js';

/** A space before a document. A line end would not do: clients that read lines take each line for an event. */
const BLANK: ByteAhead = { value: 0x20, partOfWrite: false };
/** The first of the four bytes of a frame's length: no object is so large that this byte differs. */
const FRAME_START: ByteAhead = { value: 0, partOfWrite: true };
/** The first byte of each document in CBOR. */
const DOCUMENT_START: ByteAhead = { value: CBOR_TAG[0]!, partOfWrite: true };
/** Events of a watch of at most this duration may reach the client together with its end. */
const BRIEF_MS = 1000;
/** User agent of the Java client, which throws on white space after the last event and reads incomplete chunks. */
const READS_LINES = /^\S+ Java Client\//;

/**
 * The byte to send ahead of an event. Clients also get it after the last event, so it is sent only to clients that need
 * it.
 */
function aheadOf(exchange: Exchange, form: EventForm, timeoutMs: number): ByteAhead | undefined {
  if (timeoutMs <= BRIEF_MS) return undefined;
  if (form.mediaType === CBOR_SEQUENCE) return DOCUMENT_START;
  if (!form.mediaType.startsWith('application/json')) return FRAME_START;
  return READS_LINES.test(exchange.header('user-agent') ?? '') ? undefined : BLANK;
}

/** Whether a watch may show objects that were written under an earlier schema. */
const showsOld = ({ state }: ReadContext, resource: Resource, { isInitial, revision }: WatchOptions): boolean =>
  (!isInitial && (revision ?? state.revision) < resource.changedAt!) ||
  predates(resource, state.collections.get(resource.storageName)!.entries.range(''));

/** A watch that may begin: its parameters, and how its events are sent. */
interface CheckedWatch extends WatchOptions {
  readonly collection: Collection;
  readonly selection: Selection;
  readonly form: EventForm;
  readonly stream: ResponseStream;
  readonly usage: Usage;
}

/**
 * Answers a watch (spec, "Resource version semantics: watch" and "Events (watch)"), which counts in `usage` until it
 * ends. Throws Refusal 400, 406, 422, 429, 503 and 504.
 */
export async function watch(context: ReadContext, request: FrontRequest, resource: Resource): Promise<void> {
  const { exchange, route, sender } = request;
  const { usage } = sender;
  const isJson = context.wantsJson(exchange, resource, true);
  if (!isJson) context.accepts(exchange, resource, true);
  checkNumbers(route.query);
  const selectors = parseSelectors(route);
  const options = parseWatchOptions(route, context.naming);
  const selection = selectionOf(resource, route, selectors);
  const isPlain = isJson && !needsConversion(resource) && !(resource.changedAt && showsOld(context, resource, options));
  const form = isPlain
    ? storedEvents(resource, context.naming, options.marksInitialEnd)
    : context.eventForm(request, resource, options.marksInitialEnd);
  const recent = options.asked === '' ? context.mostRecent() : context.catchUp();
  if (recent) await recent;
  const { state, hub } = context;
  if (hub.finished) throw new Refusal('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 });
  usage.add('watches');
  let watcher: Watcher | undefined;
  try {
    const stream =
      acceptWebSocket(exchange, form, () => hub.finished) ??
      exchange.stream(200, headersFor(resource, form.mediaType), {
        ahead: aheadOf(exchange, form, options.timeoutMs),
        isNews: true,
      });
    const collection = state.collections.get(resource.storageName)!;
    const checked = { ...options, selection, form, stream, collection, usage };
    if (!(await hasArrived(context, checked)) || exchange.aborted) return;
    if (hub.finished) return stream.end();
    watcher = beginWatch(context, exchange, checked, () => usage.remove('watches'));
    await sendPast(context, watcher, checked);
  } finally {
    if (!watcher) usage.remove('watches');
  }
}

/** Where a watch starts: the revision that it asks for, or the present. */
const startOf = ({ state }: ReadContext, { isInitial, revision }: WatchOptions): number =>
  isInitial ? state.revision : (revision ?? state.revision);

/**
 * Adds a watcher to the hub before its initial events are read, so that no change is lost in between: it queues live
 * changes until the initial events are sent.
 */
function beginWatch(context: ReadContext, exchange: Exchange, watch: CheckedWatch, onEnd: () => void): Watcher {
  const { state, hub } = context;
  const { selection, collection, stream, form, bookmarks, timeoutMs } = watch;
  const watcher = new Watcher(selection, collection, stream, form, startOf(context, watch), bookmarks, ended => {
    hub.remove(ended);
    onEnd();
  });
  exchange.onAbort(() => watcher.ended());
  hub.add(watcher);
  watcher.start(timeoutMs, () => state.revision);
  return watcher;
}

/** Sends the events before the live changes: the present objects, or the changes after a revision. */
async function sendPast(context: ReadContext, watcher: Watcher, watch: CheckedWatch): Promise<void> {
  const { selection, collection, isInitial, marksInitialEnd } = watch;
  const start = startOf(context, watch);
  if (!isInitial) return await sendChangesSince(context, watcher, watch, start);
  let initial: readonly InitialEvent[];
  try {
    initial = await initialOf(context, collection, selection);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return watcher.fail(error);
  }
  await watcher.catchUp(initial, marksInitialEnd ? start : undefined);
}

/**
 * Waits for the version that the initial events must not be older than. Returns false if it does not come in time: the
 * stream has begun, so it ends with an ERROR event.
 */
async function hasArrived(
  context: ReadContext,
  { isInitial, revision, asked, stream, form }: CheckedWatch,
): Promise<boolean> {
  if (!isInitial || revision === undefined) return true;
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

/**
 * The objects that a watch begins with: those of the collection when this is called. Throws Refusal 500 if some of them
 * cannot be read: a client would take them for deleted.
 */
async function initialOf(
  { slices }: ReadContext,
  collection: Collection,
  selection: Selection,
): Promise<readonly InitialEvent[]> {
  const { entries } = await currentPage(collection, selection, slices);
  return entries;
}

/**
 * Sends the changes after `from`, which a resumed watch has not received. If the store has them no longer, the watch
 * ends with the error 410.
 */
async function sendChangesSince(
  context: ReadContext,
  watcher: Watcher,
  { selection, collection, usage }: CheckedWatch,
  from: number,
): Promise<void> {
  const { state } = context;
  try {
    for await (const events of pastEvents(context, { selection, collection, usage }, from, state.revision)) {
      await watcher.sendInitial(events);
      if (watcher.hasEnded) return;
    }
    await watcher.catchUp([], undefined);
  } catch (error) {
    const expired = error instanceof Refusal && error.reason === 'Expired';
    watcher.fail(
      expired
        ? new Refusal('Expired', `too old resource version: ${from} (${state.history.floor})`)
        : new Refusal('InternalError', 'past events could not be read'),
    );
  }
}
