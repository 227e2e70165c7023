import type { ResourceEvent } from '../../api/host.js';
import type { ApiObject } from '../../model/object.js';
import { type Entry, storageNameIn } from '../../threads/entries/entry.js';
import { decodeShared } from './stored.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The end of the JSON string whose first character is at `start`: the position of its closing quote. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * A change of an object. It is small until the object is decoded, because a listener may keep the events of many
 * objects. Its functions may be read as members and called alone, as controllers do. Values are computed only when they
 * are read: at the start, each controller gets an event for every object.
 */
export class EntryEvent implements ResourceEvent {
  #decoded: ApiObject | undefined;
  #old: ApiObject | undefined;

  constructor(
    /** The object, or its last state if it was deleted. */
    readonly entry: Entry,
    readonly type: ResourceEvent['type'],
    readonly revision: number,
    /** The object before it was modified. */
    readonly before?: Entry,
  ) {}

  get storageName(): string {
    return storageNameIn(this.entry.key);
  }

  get namespace(): string {
    return this.entry.namespace;
  }

  get name(): string {
    return this.entry.name;
  }

  get object(): () => ApiObject {
    return () => (this.#decoded ??= decodeShared(this.entry.value));
  }

  get old(): (() => ApiObject) | undefined {
    const { before } = this;
    return before && (() => (this.#old ??= decodeShared(before.value)));
  }

  get mentions(): (text: string) => boolean {
    return text => this.#bytes.includes(text);
  }

  get stringsNamed(): (member: string) => readonly string[] {
    return member => this.#findStrings(member);
  }

  #findStrings(member: string): readonly string[] {
    const bytes = this.#bytes;
    const mark = `"${member}":"`;
    const found: string[] = [];
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) {
      const start = at + mark.length;
      found.push(JSON.parse(bytes.toString('utf8', start - 1, stringEnd(bytes, start) + 1)) as string);
    }
    return found;
  }

  get #bytes(): Buffer {
    const { buffer, byteOffset, length } = this.entry;
    return Buffer.from(buffer, byteOffset, length);
  }
}
