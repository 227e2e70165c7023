import type { Part } from './bufferCompactor.js';
import type { WireEvent } from './messages.js';

/** What selectors need of an object: its labels and its selectable fields. */
export interface Index {
  readonly labels: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * A current object as threads keep it: its key, and where its encoded bytes are. There are as many as there are
 * objects, so it holds neither a view of its own (a typed array takes some 100 bytes) nor what the key tells.
 */
export class Entry implements Part {
  readonly key: string;
  readonly revision: number;
  buffer: ArrayBufferLike;
  byteOffset: number;
  readonly length: number;
  /** Parsed when a selector first asks (`Collection.index`). */
  index: Index | undefined = undefined;

  constructor(key: string, revision: number, { buffer, byteOffset, length }: Part) {
    this.key = key;
    this.revision = revision;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.length = length;
  }

  /** The entry of an event that is no deletion. */
  static of({ key, revision, value }: WireEvent): Entry {
    return new Entry(key, revision, value!);
  }

  /** A view of the object's bytes, made anew each time. */
  get value(): Uint8Array {
    return this.from(0);
  }

  /** A view of the object's bytes without the first `skip`. */
  from(skip: number): Uint8Array {
    return new Uint8Array(this.buffer, this.byteOffset + skip, this.length - skip);
  }

  /** The same bytes are elsewhere now. */
  move({ buffer, byteOffset }: Part): void {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
  }

  /** Last segment of the key: names hold no slash. */
  get name(): string {
    return this.key.slice(this.key.lastIndexOf('/') + 1);
  }

  /** What stands between storage name and name; '' for objects without a namespace. */
  get namespace(): string {
    return namespaceIn(this.key);
  }
}

/** First two segments of a key: the group and the plural name that its kind is stored under. */
export const storageNameIn = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1));

/** The namespace in a key; '' if it has none. */
export function namespaceIn(key: string): string {
  const begin = key.indexOf('/', key.indexOf('/') + 1) + 1;
  const end = key.lastIndexOf('/');
  return end > begin ? key.slice(begin, end) : '';
}
