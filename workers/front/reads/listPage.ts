import { PAST_PAGE, SLICE_MS } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import {
  checkNumbers,
  type ListOptions,
  parseListOptions,
  refuseVersionOfToken,
} from '../../../core/request/listOptions.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { unreadableList } from '../../../core/threads/entries/unreadable.js';
import type { Resource } from '../../../core/schema/resource.js';
import { Entry } from '../../../core/threads/entries/entry.js';
import type { Rendering } from '../../../core/threads/messages/messages.js';
import { type Collection, unparsedWeight } from '../state/collection.js';
import { notOlderThan, type ReadContext } from './readContext.js';
import type { ListPosition } from './continueToken.js';
import { parseSelectors, type Selection, selectionOf } from './selection.js';
import type { FrontRequest } from '../access/sender.js';
import type { Slices } from '../fairness/slices.js';

/** One page of a list. */
export interface ListPage {
  readonly revision: number;
  readonly entries: readonly Entry[];
  /** Continue token of the next page, if there is one. */
  readonly next?: string;
  readonly remaining?: number;
}

/** The metadata of a list, without members that are empty. */
export const metadataOf = ({ revision, next, remaining }: ListPage): NonNullable<Rendering['list']> => ({
  resourceVersion: String(revision),
  ...(next ? { continue: next } : {}),
  ...(remaining ? { remainingItemCount: remaining } : {}),
});

/**
 * Finds the page that a list asks for, or the objects of a deletecollection with the same parameters. Throws Refusal
 * 400, 410, 422 and 504.
 */
export async function pageOfRequest(
  context: ReadContext,
  { exchange, route, sender }: FrontRequest,
  resource: Resource,
): Promise<ListPage> {
  checkNumbers(route.query);
  const selectors = parseSelectors(route);
  const options = parseListOptions(route.query, context.naming);
  const selection = selectionOf(resource, route, selectors);
  // Upstream lists the objects of a deletecollection page by page, and pages at a version are of exactly that version.
  const exact = (route.target as ResourceTarget).verb === 'deletecollection' && options.match === '';
  const position = options.token ? context.tokens.decode(options.token, selection.scope) : undefined;
  refuseVersionOfToken(options);
  const list: List = {
    context,
    selection,
    options: exact ? { ...options, match: 'Exact' } : options,
    collection: context.state.collections.get(resource.storageName)!,
    position,
    // Upstream ignores the limit for one object that is asked for by its name, but not a continue token.
    limit: selection.key !== undefined && !position ? 0 : options.limit,
    after: position && selection.scope + position.after,
  };
  const revision = await revisionOf(list);
  const find = async (): Promise<ListPage> => {
    if (exchange.aborted) throw new Error('the client has closed the connection');
    return await pageAt(list, revision, work => context.pastReads.run(sender.usage, work));
  };
  const isScan = selection.filtered && selection.key === undefined;
  return isScan ? await context.scans.run(sender.usage, find) : await find();
}

/**
 * The page at a revision, or of the current state if that is undefined. `limited` runs a read of the past when it is
 * its turn.
 */
async function pageAt(
  list: List,
  revision: number | undefined,
  limited: (work: () => Promise<ListPage>) => Promise<ListPage>,
): Promise<ListPage> {
  const { context, collection, position } = list;
  if (revision === undefined) return await currentList(list, context.state.revision);
  if (collection.revision <= revision) return await currentList(list, revision);
  return await limited(() => pastList(list, revision)).catch(error => {
    throw position ? withFreshToken(error, list, position) : error;
  });
}

/** The collection that a request lists, and the options. */
interface List {
  readonly context: ReadContext;
  readonly selection: Selection;
  readonly options: ListOptions;
  readonly collection: Collection;
  /** The position at which the continue token continues. */
  readonly position?: ListPosition;
  /** 0: all objects. */
  readonly limit: number;
  /** Key before the first one that may be listed. */
  readonly after?: string;
}

/**
 * The revision that a list must show, undefined for the current one. Resolves when the state has reached it (spec,
 * "Resource version semantics: list table"). Throws Refusal 504.
 */
async function revisionOf({ context, options, position }: List): Promise<number | undefined> {
  if (position && position.revision > 0) {
    await notOlderThan(context, position.revision, String(position.revision));
    return position.revision;
  }
  if (options.revision === undefined) {
    const recent = context.mostRecent();
    if (recent) await recent;
    return undefined;
  }
  if (options.revision > 0) await notOlderThan(context, options.revision, options.asked);
  return !position && isExact(options) ? options.revision : undefined;
}

const isExact = ({ revision, match, limit }: ListOptions): boolean =>
  revision !== undefined && revision > 0 && (match === 'Exact' || (match === '' && limit > 0));

/** The refusal of an expired token, with a token that continues at the same position of the current list. */
function withFreshToken(error: unknown, { context, selection }: List, position: ListPosition): unknown {
  if (!(error instanceof Refusal) || error.reason !== 'Expired') return error;
  return new Refusal(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. Start a new list without it, or use the continue ' +
      'token of this response for the remaining items as they are now; that list may not be consistent with the pages before.',
    undefined,
    undefined,
    { continue: context.tokens.encode({ ...position, revision: 0 }, selection.scope) },
  );
}

/** Entries of a page, and whether more follow. */
interface EntryPage {
  readonly entries: readonly Entry[];
  /** Whether there are entries after the last one, selected or not. */
  readonly more: boolean;
  /** The number of these entries, if every entry is selected. */
  readonly remaining: number;
}

function pageOf({ context, selection }: List, revision: number, { entries, more, remaining }: EntryPage): ListPage {
  if (!more) return { revision, entries };
  const after = entries.at(-1)!.key.slice(selection.scope.length);
  const next = context.tokens.encode({ revision, after }, selection.scope);
  return { revision, entries, next, ...(selection.filtered ? {} : { remaining }) };
}

async function currentList(list: List, revision: number): Promise<ListPage> {
  const { context, collection, selection, limit, after } = list;
  return pageOf(list, revision, await currentPage(collection, selection, context.slices, limit, after));
}

/**
 * The entries that a selection chooses from a collection, as it is when this is called, in the order of their keys. If
 * there are objects that cannot be read, throws Refusal 500 with their names: it is not known whether they are chosen.
 */
export async function currentPage(
  collection: Collection,
  selection: Selection,
  slices: Slices,
  limit = 0,
  after?: string,
): Promise<EntryPage> {
  collection.checkReadable(selection);
  if (selection.filtered) return await selectedPage(collection, selection, slices, limit, after);
  const entries: Entry[] = [];
  let more = false;
  collection.entries.each(selection.prefix, after, entry => {
    more = limit > 0 && entries.length >= limit;
    if (!more) entries.push(entry);
    return !more;
  });
  const remaining = more ? collection.entries.count(selection.prefix, entries.at(-1)!.key) : 0;
  return { entries, more, remaining };
}

async function selectedPage(
  collection: Collection,
  selection: Selection,
  slices: Slices,
  limit: number,
  after: string | undefined,
): Promise<EntryPage> {
  const entries: Entry[] = [];
  let more = false;
  const visit = (entry: Entry): boolean => {
    more = limit > 0 && entries.length >= limit;
    if (!more && selection.matches(collection, entry)) entries.push(entry);
    return !more;
  };
  const rest = visitFirst(collection, selection, after, visit);
  if (rest.length > 0) await slices.forEach(rest, visit, unparsedWeight);
  return { entries, more, remaining: 0 };
}

/** How long the first entries of a scan may be visited without a pause, in ms: a fraction of a slice. */
const FIRST_MS = SLICE_MS / 8;

/**
 * Visits the first candidates of a selection, so that a page that is found among them costs no more than they do.
 * Returns the others, which are held because the collection may change between two slices; none if `visit` has
 * returned false.
 */
function visitFirst(
  { entries }: Collection,
  { prefix, key }: Selection,
  after: string | undefined,
  visit: (entry: Entry) => boolean,
): Entry[] {
  const rest: Entry[] = [];
  if (key !== undefined) {
    const entry = after === undefined || key > after ? entries.get(key) : undefined;
    if (entry) visit(entry);
    return rest;
  }
  const deadline = monotonicTime() + FIRST_MS;
  let isLate = false;
  entries.each(prefix, after, entry => {
    isLate ||= monotonicTime() >= deadline;
    if (!isLate) return visit(entry);
    rest.push(entry);
    return true;
  });
  return rest;
}

/**
 * A page of a collection as it was at an old revision, from the store. Throws Refusal 410, and 500 for objects that
 * cannot be read.
 */
async function pastList(list: List, revision: number): Promise<ListPage> {
  const { context, collection, selection, limit } = list;
  const prefix = selection.key ?? selection.prefix;
  const entries: Entry[] = [];
  const isCounted = limit > 0 && !selection.filtered;
  const size = isCounted ? limit : PAST_PAGE;
  // A token may be of a list over more namespaces than the selector leaves.
  let after = list.after === undefined || list.after < prefix ? '' : list.after;
  if (!after.startsWith(prefix) && after !== '') return { revision, entries };
  for (;;) {
    const page = await context.range(prefix, revision, size, after, isCounted);
    const found = page.items.map(item => Entry.of(item));
    const broken = found.filter(entry => !entry.isReadable);
    if (broken.length > 0) throw unreadableList(selection.of, broken);
    const selected = await context.slices.filter(found, entry => selection.matches(collection, entry), unparsedWeight);
    for (const entry of selected) entries.push(entry);
    after = page.items.at(-1)?.key ?? after;
    const isFull = limit > 0 && entries.length >= limit;
    if (!page.more || isFull) {
      const kept = isFull ? entries.slice(0, limit) : entries;
      return pageOf(list, revision, {
        entries: kept,
        // As with current entries, a full page has a token if it ends before the last entry, selected or not.
        more: isFull && (page.more || kept.at(-1)!.key !== after),
        remaining: page.remaining + entries.length - kept.length,
      });
    }
  }
}
