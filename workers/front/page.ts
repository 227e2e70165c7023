import { PAST_PAGE } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { Resource } from '../../core/schema/resource.js';
import { Entry } from '../../core/threads/entry.js';
import type { Rendering } from '../../core/threads/messages.js';
import type { Collection } from './collection.js';
import { notOlderThan, type ReadContext } from './context.js';
import type { Position } from './continueToken.js';
import { type ListOptions, listOptionsOf } from '../../core/request/listOptions.js';
import { type Selection, selectionOf } from './selection.js';
import type { Route } from '../../core/request/route.js';

/** One page of a list. */
export interface Listed {
  readonly revision: number;
  readonly entries: readonly Entry[];
  readonly next?: string;
  readonly remaining?: number;
}

/** The metadata of a list, without members that say nothing. */
export const metadataOf = ({ revision, next, remaining }: Listed): NonNullable<Rendering['list']> => ({
  resourceVersion: String(revision),
  ...(next ? { continue: next } : {}),
  ...(remaining ? { remainingItemCount: remaining } : {}),
});

/**
 * The page that a list asks for, or what a deletecollection with the same parameters is about. Throws Refusal 400, 410,
 * 422 and 504.
 */
export async function pageOfRequest(context: ReadContext, route: Route, resource: Resource): Promise<Listed> {
  const target = route.target as ResourceTarget;
  const asked = listOptionsOf(route.query, context.naming);
  // As upstream, which lists what it deletes page by page: pages at a version are of exactly that version.
  const options =
    target.verb === 'deletecollection' && asked.match === '' ? ({ ...asked, match: 'Exact' } as const) : asked;
  return await pageAsked(context, resource, selectionOf(resource, target, route.query), options);
}

async function pageAsked(
  context: ReadContext,
  resource: Resource,
  selection: Selection,
  options: ListOptions,
): Promise<Listed> {
  const position =
    options.token && !selection.single ? context.tokens.decode(options.token, selection.scope) : undefined;
  const exact = position ? position.revision || undefined : exactRevision(options) ? options.revision : undefined;
  const after = position && selection.prefix + position.after;
  const collection = context.state.collections.get(resource.storageName)!;
  if (exact === undefined) {
    if (options.revision === undefined) {
      const recent = context.mostRecent();
      if (recent) await recent;
    } else if (options.revision > 0) await notOlderThan(context, options.revision, options.asked);
  } else {
    await notOlderThan(context, exact, position ? String(exact) : options.asked);
    if (collection.revision > exact)
      return await atRevision(context, collection, selection, options.limit, exact, after ?? '').catch(error => {
        throw position ? afresh(error, context, position, selection.scope) : error;
      });
  }
  const revision = exact ?? context.state.revision;
  return pageOf(context, selection, revision, options.limit, currentPage(collection, selection, options.limit, after));
}

/** An expired token's refusal comes with a token to go on from the same place in the list as it is now. */
function afresh(error: unknown, context: ReadContext, position: Position, scope: string): unknown {
  if (!(error instanceof Refusal) || error.reason !== 'Expired') return error;
  return new Refusal(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. Start a new list without it, or use the continue ' +
      'token of this response for the remaining items as they are now; that list may not be consistent with the pages before.',
    undefined,
    undefined,
    { continue: context.tokens.encode({ ...position, revision: 0 }, scope) },
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
export function currentPage(
  collection: Collection,
  selection: Selection,
  limit: number,
  after: string | undefined,
): EntryPage {
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
  const after = entries.at(-1)!.key.slice(selection.prefix.length);
  const next = context.tokens.encode({ revision, after }, selection.scope);
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
    const full = limit > 0 && entries.length >= limit;
    if (!page.more || full) {
      const kept = full ? entries.slice(0, limit) : entries;
      // As for current entries a token follows a full page before the last entry, chosen or not.
      const more = full && (page.more || kept.at(-1)!.key !== from) && !selection.single;
      return pageOf(context, selection, revision, limit, {
        entries: kept,
        more,
        remaining: page.remaining + entries.length - kept.length,
      });
    }
  }
}
