import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml';
import { DEPTH, STRICT_ERRORS } from '../../limits.js';
import type { Json } from '../../model/object.js';
import type { StrictJson } from '../json/json.js';
import { resolveScalar, resolveTagged, typeNameOf } from './yamlScalar.js';

/** Describes the fault of a document, in upstream's words. */
export class YamlError extends Error {
  /** `source`: the part of upstream that finds the fault; undefined for the conversion of keys, which names none. */
  constructor(why: string, source: 'yaml' | 'json' | undefined = 'yaml') {
    super(source ? `${source}: ${why}` : why);
  }
}

/** The parts of the library that are used here. */
type Library = Pick<typeof import('js-yaml'), 'EVENT_ID' | 'SCALAR_STYLE' | 'getScalarValue'>;

const PREFIX = 'tag:yaml.org,2002:';
const MERGE = '<<';
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** A node of a document. */
interface Node {
  readonly value: Json;
  /** The position of the node, for messages; undefined if upstream names the line of the key. */
  readonly start: number | undefined;
  /** Whether it is a plain `<<`. */
  readonly isMerge: boolean;
}

type Members = Map<string, Json>;

const compareNames = ([a]: readonly [string, Json], [b]: readonly [string, Json]): number => (a < b ? -1 : 1);

/** An object with members sorted by name. `fromEntries` defines `__proto__` as an own member. */
const objectOf = (members: Members): Json => Object.fromEntries([...members].sort(compareNames));

/**
 * Builds the value of the first document of a stream from the events of the parser, which limits their nesting. Values
 * of aliases are copies, of at most `aliased` values and characters in total. Throws YamlError.
 */
export function composeYaml(text: string, events: readonly Event[], library: Library, aliased: number): StrictJson {
  const composer = new Composer(text, events, library, aliased);
  return { value: composer.document(), duplicates: composer.duplicates };
}

class Composer {
  readonly duplicates: string[] = [];
  /** The values of anchors by name; undefined while the node is incomplete. */
  readonly #anchors = new Map<string, Json | undefined>();
  /** Prefixes of tags, by handle. */
  readonly #handles = new Map([['!!', PREFIX]]);
  #next = 0;
  #depth = 0;
  #lineStarts: number[] | undefined;

  constructor(
    readonly text: string,
    readonly events: readonly Event[],
    readonly library: Library,
    /** The number of values and characters that aliases may still expand to. */
    private aliased: number,
  ) {}

  /** The value of the first document; null if there is none. */
  document(): Json {
    const event = this.events[this.#next++];
    if (event?.type !== this.library.EVENT_ID.DOCUMENT) return null;
    for (const directive of event.directives)
      if (directive.kind === 'tag') this.#handles.set(directive.handle, directive.prefix);
    return this.#node().value;
  }

  #node(): Node {
    const { EVENT_ID } = this.library;
    const event = this.events[this.#next++]!;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event);
      case EVENT_ID.SEQUENCE:
        return { value: this.#collection(event, () => this.#items()), start: undefined, isMerge: false };
      case EVENT_ID.MAPPING:
        return { value: this.#collection(event, () => this.#members()), start: event.start, isMerge: false };
      case EVENT_ID.ALIAS: {
        const value = this.#alias(this.text.slice(event.anchorStart, event.anchorEnd));
        return { value, start: event.anchorStart, isMerge: false };
      }
      default:
        throw new YamlError('did not find expected node content');
    }
  }

  #collection(event: SequenceEvent | MappingEvent, read: () => Json): Json {
    const name = this.#anchorOf(event);
    if (name !== undefined) this.#anchors.set(name, undefined);
    this.#depth++;
    const value = read();
    this.#depth--;
    if (name !== undefined) this.#anchors.set(name, value);
    return value;
  }

  /** Whether the next event ends the current collection; if so, skips that event. */
  #ends(): boolean {
    if (this.events[this.#next]!.type !== this.library.EVENT_ID.POP) return false;
    this.#next++;
    return true;
  }

  #items(): Json {
    const items: Json[] = [];
    while (!this.#ends()) items.push(this.#node().value);
    return items;
  }

  #members(): Json {
    const members: Members = new Map();
    let merged: Json[] | undefined;
    while (!this.#ends()) {
      const keyAt = this.#positionOf(this.events[this.#next]!);
      const key = this.#node();
      const { value, start } = this.#node();
      if (key.isMerge) {
        (merged ??= []).push(value);
        continue;
      }
      const name = nameOf(key.value, value);
      if (members.has(name)) this.#reportDuplicate(name, start ?? keyAt);
      members.set(name, value);
    }
    for (const value of merged ?? []) merge(members, value);
    return objectOf(members);
  }

  #scalar(event: ScalarEvent): Node {
    const { SCALAR_STYLE, getScalarValue } = this.library;
    const { valueStart, style } = event;
    const text = getScalarValue(this.text, event);
    // Only escapes can produce a surrogate without its other half.
    if (LONE_SURROGATE.test(text)) throw new YamlError('found invalid Unicode character escape code');
    const isPlain = style === SCALAR_STYLE.PLAIN;
    const isTagged = event.tagStart >= 0;
    const value = isTagged ? this.#tagged(event, text) : isPlain ? resolveScalar(text) : text;
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new YamlError(`unsupported value: ${nonFiniteText(value)}`, 'json');
    const name = this.#anchorOf(event);
    if (name !== undefined) this.#anchors.set(name, value);
    const isBlock = style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
    const start = isBlock || valueStart < 0 ? undefined : valueStart;
    return { value, start, isMerge: isPlain && text === MERGE && !isTagged };
  }

  #tagged({ tagStart, tagEnd }: ScalarEvent, text: string): Json {
    const tag = this.#resolveTag(this.text.slice(tagStart, tagEnd));
    if (!tag.startsWith(PREFIX)) return text;
    const name = tag.slice(PREFIX.length);
    const value = resolveTagged(name, text);
    if (value !== undefined) return value;
    if (name === 'binary') throw new YamlError('!!binary value contains invalid base64 data');
    throw new YamlError(`cannot decode !!${typeNameOf(resolveScalar(text))} \`${text}\` as a !!${name}`);
  }

  /** The tag with its prefix, given its written form. */
  #resolveTag(written: string): string {
    if (written.startsWith('!<')) return written.slice(2, -1);
    const handle = /^!(?:[\w-]*!)?/.exec(written)?.[0] ?? '';
    const prefix = this.#handles.get(handle);
    return prefix === undefined ? written : prefix + written.slice(handle.length);
  }

  #anchorOf({ anchorStart, anchorEnd }: ScalarEvent | SequenceEvent | MappingEvent): string | undefined {
    return anchorStart < 0 ? undefined : this.text.slice(anchorStart, anchorEnd);
  }

  #alias(name: string): Json {
    const value = this.#anchors.get(name);
    if (value !== undefined) return this.#copy(value, this.#depth);
    throw new YamlError(
      this.#anchors.has(name) ? `anchor '${name}' value contains itself` : `unknown anchor '${name}' referenced`,
    );
  }

  /** A copy of the node of an alias, at the given depth. */
  #copy(value: Json, depth: number): Json {
    this.aliased -= typeof value === 'string' ? value.length + 1 : 1;
    if (this.aliased < 0) throw new YamlError('document contains excessive aliasing');
    if (depth > DEPTH) throw new YamlError(`exceeded max depth of ${DEPTH}`);
    if (Array.isArray(value)) return value.map(item => this.#copy(item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        this.aliased -= name.length;
        return [name, this.#copy(member, depth + 1)];
      }),
    );
  }

  #positionOf(event: Event): number {
    if ('valueStart' in event) return event.valueStart;
    return 'anchorStart' in event ? event.anchorStart : 0;
  }

  #reportDuplicate(name: string, position: number): void {
    if (this.duplicates.length >= STRICT_ERRORS) return;
    this.duplicates.push(`line ${this.#lineOf(position)}: key ${JSON.stringify(name)} already set in map`);
  }

  /** The line of a position, counted from 1. */
  #lineOf(position: number): number {
    this.#lineStarts ??= Array.from(this.text.matchAll(/\r\n?|\n/g), ({ index, 0: end }) => index + end.length);
    let [low, high] = [0, this.#lineStarts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}

/** The name of the member for a key. `value`: that of the member, for the message. */
function nameOf(key: Json, value: Json): string {
  if (key === null) {
    const shown = JSON.stringify(value).slice(0, 100);
    throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`, undefined);
  }
  if (typeof key === 'object') throw new YamlError(`invalid map key: ${JSON.stringify(key).slice(0, 100)}`);
  return String(key);
}

/** A number without a JSON form, as Go prints it. */
const nonFiniteText = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');

const isObject = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds the members of a merge key. Existing members take precedence, then those of earlier maps. */
function merge(members: Members, value: Json): void {
  const maps = Array.isArray(value) ? value : [value];
  if (!maps.every(isObject)) throw new YamlError('map merge requires map or sequence of maps as the value');
  for (const map of maps)
    for (const [name, member] of Object.entries(map)) if (!members.has(name)) members.set(name, member);
}
