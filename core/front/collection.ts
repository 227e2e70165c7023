import { decodeStored } from '../plugin/stored.js';
import type { ApiObject } from '../model/object.js';
import { SortedMap } from '../model/sortedMap.js';
import type { WireEvent } from '../threads/messages.js';

/** A current object as the front end keeps it: encoded bytes, and what selectors need, parsed once when first asked for. */
export interface Entry {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly created: number;
  /** Replaced by the same bytes elsewhere when the buffer it is a view of is mostly garbage. */
  bytes: Uint8Array;
  labels?: ReadonlyMap<string, string>;
  fields?: ReadonlyMap<string, string>;
}

/** A committed change with the entry before and after; encodings are filled once per form by the watches that need them. */
export interface Change {
  readonly revision: number;
  readonly collection: Collection;
  readonly after?: Entry;
  readonly before?: Entry;
  readonly encodings: Map<string, Uint8Array | Promise<Uint8Array>>;
}

/** All current objects of one storage name. */
export class Collection {
  readonly entries = new SortedMap<Entry>();
  /** Revision of the last change in this collection. */
  revision = 0;

  constructor(
    readonly storageName: string,
    /** Undefined for objects of a kind that is not known yet: their keys tell. */
    readonly namespaced: boolean | undefined,
    /** Selectable fields of the kind beyond name and namespace. */
    public selectable: ReadonlyMap<string, (object: ApiObject) => string>,
  ) {}

  entryOf(event: WireEvent): Entry {
    const rest = event.key.slice(this.storageName.length + 1);
    const slash = this.namespaced === false ? -1 : rest.indexOf('/');
    return {
      key: event.key,
      namespace: slash < 0 ? '' : rest.slice(0, slash),
      name: rest.slice(slash + 1),
      revision: event.revision,
      created: event.created,
      bytes: event.value!,
    };
  }

  /** The kind has other selectable fields from now on. */
  select(fields: Collection['selectable']): void {
    if (fields.size === 0 && this.selectable.size === 0) return;
    this.selectable = fields;
    for (const entry of this.entries.range('')) entry.fields = undefined;
  }

  /** Applies a change and tells what it was; undefined for the deletion of something unknown. */
  apply(event: WireEvent): Change | undefined {
    const before = this.entries.get(event.key);
    this.revision = event.revision;
    if (event.value) {
      const after = this.entryOf(event);
      this.entries.set(event.key, after);
      return { revision: event.revision, collection: this, after, before, encodings: new Map() };
    }
    if (!before) return undefined;
    this.entries.delete(event.key);
    return { revision: event.revision, collection: this, before, encodings: new Map() };
  }

  /** Labels and selectable fields, parsed from the bytes once per entry. */
  index(entry: Entry): { labels: ReadonlyMap<string, string>; fields: ReadonlyMap<string, string> } {
    if (!entry.labels || !entry.fields) {
      const object = decodeStored(entry.bytes);
      entry.labels = new Map(Object.entries(object.metadata.labels ?? {}));
      const fields = new Map([
        ['metadata.name', entry.name],
        ['metadata.namespace', entry.namespace],
      ]);
      for (const [field, read] of this.selectable) fields.set(field, read(object));
      entry.fields = fields;
    }
    return { labels: entry.labels, fields: entry.fields };
  }
}
