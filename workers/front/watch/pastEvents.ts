import { Entry } from '../../../core/threads/entries/entry.js';
import { isReadable } from '../../../core/threads/entries/unreadable.js';
import type { PastEvent } from '../../../core/threads/messages/messages.js';
import { lostDeletion } from '../answers/refusals.js';
import type { Usage } from '../fairness/usage.js';
import type { ReadContext } from '../reads/readContext.js';
import { mayShow, type Selection } from '../reads/selection.js';
import { type Change, type Collection, unparsedWeight } from '../state/collection.js';
import { eventFor, type ObjectEvent } from './watchEvents.js';

/** The objects whose events a watch gets, and the usage of its sender. */
export interface Watched {
  readonly selection: Selection;
  readonly collection: Collection;
  readonly usage: Usage;
}

/** Largest number of changes in memory whose events are prepared at once. */
const PART_CHANGES = 1000;

/**
 * The events of a watch after the revision `from` and up to `to`, in order, in parts: from memory where they are all
 * there, otherwise from the store. Each part is made when it is asked for, so that a slow reader keeps only one in
 * memory. Throws Refusal 410 if the store no longer has all of them, or an object was deleted that could not be read.
 */
export async function* pastEvents(
  context: ReadContext,
  watched: Watched,
  from: number,
  to: number,
): AsyncGenerator<readonly ObjectEvent[]> {
  const { history } = context.state;
  const { selection, collection, usage } = watched;
  for (let at = from; at < to; ) {
    if (at >= history.floor) {
      const { changes, reached } = history.between(at, to, collection, PART_CHANGES);
      yield await eventsOf(context, selection, changes);
      at = reached;
    } else {
      const { events, revision } = await context.past(usage, selection.prefix, at, to);
      yield await eventsOf(context, selection, changesOf(watched, events));
      at = revision;
    }
  }
}

/** Returns changes in the form in which a selection shows them. */
async function eventsOf(
  { slices }: ReadContext,
  selection: Selection,
  changes: readonly Change[],
): Promise<ObjectEvent[]> {
  const found: ObjectEvent[] = [];
  await slices.forEach(
    changes,
    change => {
      const event = eventFor(selection, change);
      if (event) found.push(event);
      return true;
    },
    ({ after, before }) => (after ? unparsedWeight(after) : 0) + (before ? unparsedWeight(before) : 0),
  );
  return found;
}

/** The changes that past events describe. Throws 410 if an object was deleted that could not be read. */
const changesOf = ({ selection, collection }: Watched, events: readonly PastEvent[]): Change[] =>
  events.flatMap((event): Change[] => {
    const after = event.value && Entry.of(event);
    const isBeforeReadable = event.previous !== undefined && isReadable(event.previous);
    // No event is sent for an object that becomes unreadable.
    if (after && !after.isReadable) return [];
    if (!after && !isBeforeReadable) {
      if (mayShow(selection, event.key)) throw lostDeletion();
      return [];
    }
    const before = isBeforeReadable ? new Entry(event.key, event.revision, event.previous!) : undefined;
    return [
      {
        revision: event.revision,
        collection,
        ...(after ? { after } : {}),
        ...(before ? { before } : {}),
        encodings: undefined,
      },
    ];
  });
