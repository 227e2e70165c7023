import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { unreadableList } from '../../../core/threads/entries/unreadable.js';
import type { GroupResource } from '../../../core/model/refusal.js';
import type { ApiObject } from '../../../core/model/object.js';
import { SortedMap } from '../../../core/runtime/sortedMap.js';
import { Entry, type Index } from '../../../core/threads/entries/entry.js';
import type { WireEvent } from '../../../core/threads/messages/wireEvent.js';

/** A committed change with the entry before and after. */
export interface Change {
  readonly revision: number;
  readonly collection: Collection;
  readonly after?: Entry;
  readonly before?: Entry;
  /**
   * The encoded events of this change by form, shared by watches while it is published; undefined before and after.
   */
  encodings: Map<string, Uint8Array | Promise<Uint8Array>> | undefined;
}

/** Weight of matching an entry, for `Slices.forEach`: 1 if its labels and fields have been parsed. */
export const unparsedWeight = ({ index }: Entry): number => (index ? 1 : 16);

/** The objects that a reader asks for, and how errors name their resource. */
interface Asked {
  readonly of: GroupResource;
  readonly prefix: string;
  /** The key of the object, if only one is asked for. */
  readonly key?: string;
}

/** An object that is stored and cannot be read. */
interface Unreadable {
  readonly revision: number;
  /** The bytes that the store gave in its place. */
  readonly value: Uint8Array;
}

/** All current objects of one storage name. */
export class Collection {
  readonly entries = new SortedMap<Entry>();
  /** Objects that cannot be read, by key. Their last readable version is among the entries, for their last event. */
  readonly unreadable = new Map<string, Unreadable>();
  /** Revision of the last change in this collection. */
  revision = 0;

  constructor(
    readonly storageName: string,
    /** Selectable fields of the kind beyond name and namespace. */
    public selectable: ReadonlyMap<string, (object: ApiObject) => string>,
  ) {}

  /** Sets the selectable fields of the kind, and drops values that were parsed with the fields before. */
  select(fields: Collection['selectable']): void {
    if (fields.size === 0 && this.selectable.size === 0) return;
    this.selectable = fields;
    for (const entry of this.entries.range('')) entry.index = undefined;
  }

  /** Records that an object cannot be read. Its value is copied: it may be a view of much memory. */
  setUnreadable({ key, revision, value }: Pick<Entry, 'key' | 'revision' | 'value'>): void {
    this.unreadable.set(key, { revision, value: Uint8Array.from(value) });
  }

  /** Throws Refusal 500 if objects that are asked for cannot be read. */
  checkReadable({ key: only, prefix, of }: Asked): void {
    if (this.unreadable.size === 0) return;
    const asked =
      only === undefined ? [...this.unreadable.keys()].filter(key => key.startsWith(prefix)).sort() : [only];
    const found = asked.flatMap(key => {
      const value = this.unreadable.get(key)?.value;
      return value ? [{ key, value }] : [];
    });
    if (found.length > 0) throw unreadableList(of, found);
  }

  /**
   * Applies an event and returns the change; undefined for the deletion of an object that is not here, and for an
   * object that can no longer be read: watches show it as it was until it is written again or deleted.
   */
  apply(event: WireEvent): Change | undefined {
    const before = this.entries.get(event.key);
    this.revision = event.revision;
    this.unreadable.delete(event.key);
    if (event.value) {
      const after = Entry.of(event);
      if (!after.isReadable) {
        this.setUnreadable(after);
        return undefined;
      }
      this.entries.set(after);
      return { revision: event.revision, collection: this, after, before, encodings: undefined };
    }
    if (!before) return undefined;
    this.entries.delete(event.key);
    return { revision: event.revision, collection: this, before, encodings: undefined };
  }

  /** Labels and selectable fields, parsed from the bytes once per entry. */
  index(entry: Entry): Index {
    entry.index ??= this.#indexOf(entry);
    return entry.index;
  }

  #indexOf(entry: Entry): Index {
    const object = decodeStored(entry.value);
    const fields = new Map([
      ['metadata.name', entry.name],
      ['metadata.namespace', entry.namespace],
    ]);
    for (const [field, read] of this.selectable) fields.set(field, read(object));
    return { labels: new Map(Object.entries(object.metadata.labels ?? {})), fields };
  }
}
