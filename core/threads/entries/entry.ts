import { isReadable } from './unreadable.js';
import type { Part } from './bufferCompactor.js';
import type { WireEvent } from '../messages/wireEvent.js';

/** The labels and selectable fields of an object, for selectors. */
export interface Index {
  readonly labels: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, string>;
}

/** Bytes of encodings that were made together, with the values that decide how long they are kept. */
export interface EncodingSegment {
  /** Undefined once dropped. */
  bytes: Uint8Array | undefined;
  /** The time at which they were last read, by `monotonicTime`. */
  usedAt: number;
  /** Bytes of encodings of current objects. */
  current: number;
}

/** The place of an object's encoding in a second form. The length is known even if the bytes were dropped. */
export interface Encoding {
  readonly form: string;
  readonly length: number;
  /** The number of its bytes that are kept: fewer than its length if it is packed. */
  readonly size: number;
  segment: EncodingSegment | undefined;
  offset: number;
  /** The encoding in another form. */
  readonly next: Encoding | undefined;
}

/**
 * A current object in the memory of a thread: its key, and the position of its encoded bytes. There is one for each
 * object, so it has neither a typed array, which takes about 100 bytes, nor the parts of its key.
 */
export class Entry implements Part {
  readonly key: string;
  readonly revision: number;
  buffer: ArrayBufferLike;
  byteOffset: number;
  readonly length: number;
  /** Set when a selector first reads it (`Collection.index`). */
  index: Index | undefined = undefined;
  /** Set when the object was encoded in another form (`workers/front/forms/encodingCache.ts`). */
  encoding: Encoding | undefined = undefined;

  constructor(key: string, revision: number, { buffer, byteOffset, length }: Part) {
    this.key = key;
    this.revision = revision;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.length = length;
  }

  /** The entry of an event, which must not be a deletion. */
  static of({ key, revision, value }: WireEvent): Entry {
    return new Entry(key, revision, value!);
  }

  /** A new view of the object's bytes. */
  get value(): Uint8Array {
    return this.from(0);
  }

  /** A new view of the object's bytes without the first `skip`. */
  from(skip: number): Uint8Array {
    return new Uint8Array(this.buffer, this.byteOffset + skip, this.length - skip);
  }

  /** Whether the store could read the object. */
  get isReadable(): boolean {
    return isReadable(new Uint8Array(this.buffer, this.byteOffset, Math.min(1, this.length)));
  }

  /** Records that the object's bytes were copied to another place. */
  move({ buffer, byteOffset }: Part): void {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
  }

  get name(): string {
    return nameIn(this.key);
  }

  /** The segment between storage name and name; '' for objects without a namespace. */
  get namespace(): string {
    return namespaceIn(this.key);
  }
}

/** The storage name of the last key that was examined, with the slash after it: the next key often has the same one. */
let lastPrefix = '\0';
let lastName = '';

/** The storage name in a key, its first two segments: group and plural name of the kind. */
export function storageNameIn(key: string): string {
  if (key.startsWith(lastPrefix)) return lastName;
  const end = key.indexOf('/', key.indexOf('/') + 1);
  if (end < 0) return key.slice(0, end);
  lastName = key.slice(0, end);
  lastPrefix = `${lastName}/`;
  return lastName;
}

/** The name in a key: its last segment, as names contain no slash. */
export const nameIn = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** The namespace in a key; '' if it has none. */
function namespaceIn(key: string): string {
  const begin = key.indexOf('/', key.indexOf('/') + 1) + 1;
  const end = key.lastIndexOf('/');
  return end > begin ? key.slice(begin, end) : '';
}
