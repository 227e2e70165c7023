import { LIST_SLICE_BYTES } from '../../../core/limits.js';
import type { Refusal } from '../../../core/model/refusal.js';
import { withRevision } from '../../../core/plugin/informers/stored.js';
import { Entry } from '../../../core/threads/entries/entry.js';
import type { Selection } from '../reads/selection.js';
import type { Change } from '../state/collection.js';

/** Types of watch event (spec, "Watch event"; DELETED as clients expect it). */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** How events of one form (JSON of the stored version, a Table, YAML …) are encoded. */
export interface EventForm {
  /** Equal keys share encodings. */
  readonly key: string;
  readonly mediaType: string;
  /** Synchronous if the bytes are available, else a promise. `entry`: the object, if it is as stored. */
  encode(type: EventType, object: Uint8Array, header: boolean, entry?: Entry): Uint8Array | Promise<Uint8Array>;
  /** Many at once, where that is cheaper than one after another; `header` is about the first. */
  encodeAll?(events: readonly ObjectEvent[], header: boolean): Promise<readonly Uint8Array[]>;
  /** A BOOKMARK at that revision; `initialEnd` marks the end of the initial events. */
  bookmark(revision: number, initialEnd: boolean, header: boolean): Uint8Array | Promise<Uint8Array>;
  /** An ERROR event holding a Status. */
  error(refusal: Refusal): Uint8Array;
  /** Whether the first event of a stream differs (Table columns). */
  readonly firstDiffers: boolean;
}

const OBJECT = {
  ADDED: '{"type":"ADDED","object":',
  MODIFIED: '{"type":"MODIFIED","object":',
  DELETED: '{"type":"DELETED","object":',
} as const;
const OPENINGS = new Map(Object.entries(OBJECT).map(([type, text]) => [type, Buffer.from(text)]));
const CLOSE = Buffer.from('}\n');

/** `{"type":…,"object":…}` around bytes that are JSON already. */
export const jsonEvent = (type: EventType, object: Uint8Array): Buffer =>
  Buffer.concat([OPENINGS.get(type)!, object, CLOSE]);

/** An event before it is encoded: its type, and the bytes of the object. */
export interface ObjectEvent {
  readonly type: EventType;
  readonly object: Uint8Array;
  /** The object, where it is as it is stored. */
  readonly entry?: Entry;
}

/**
 * The event that a watch with this selection gets for a change; objects that begin or cease to match are ADDED and
 * DELETED.
 */
export function eventFor(selection: Selection, change: Change): ObjectEvent | undefined {
  const { collection, before, after } = change;
  const was = before !== undefined && selection.matches(collection, before);
  const is = after !== undefined && selection.matches(collection, after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after.value, entry: after };
  if (was) return { type: 'DELETED', object: deletedBytes(change, before) };
  return undefined;
}

/** Largest number of events in a slice: a pool thread encodes them in a few milliseconds. */
const SLICE_EVENTS = 256;

/**
 * The first item of a watch: an event, or a present object, which is ADDED. An object is held as its entry, because
 * thousands of them may wait for a slow reader.
 */
export type InitialEvent = ObjectEvent | Entry;

const toEvent = (initial: InitialEvent): ObjectEvent =>
  initial instanceof Entry ? { type: 'ADDED', object: initial.value, entry: initial } : initial;

/** Initial events in slices. Between two slices, a watch waits until the reader has taken enough. */
export function* slicesOf(events: readonly InitialEvent[]): Generator<readonly ObjectEvent[]> {
  let slice: ObjectEvent[] = [];
  let bytes = 0;
  for (const initial of events) {
    const event = toEvent(initial);
    slice.push(event);
    bytes += event.object.length;
    if (bytes < LIST_SLICE_BYTES && slice.length < SLICE_EVENTS) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

const deletions = new WeakMap<Change, Buffer>();

function deletedBytes(change: Change, before: Entry): Buffer {
  let bytes = deletions.get(change);
  if (!bytes) {
    bytes = withRevision(before.value, change.revision);
    deletions.set(change, bytes);
  }
  return bytes;
}
