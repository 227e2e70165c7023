import { END, NEXT, NODE } from '../json/jsonTape.js';
import type { ScalarName, Struct, Type } from '../model.js';
import {
  ABSENT,
  begin,
  beginRecord,
  DELIMITED,
  delimitFrom,
  endRecord,
  LETTER_T,
  position,
  stringIn,
  tape,
  type Write,
  writeBool,
  writeDouble,
  writeInteger,
  writeVarint,
  written,
} from './protobufScalars.js';
import { BYTES, DOUBLE, type Entry, VARINT, wireEntries } from './protobufWire.js';

/**
 * The protobuf encoder (spec, "Protobuf wrapper"): from JSON texts in canonical form to messages, without creating
 * objects. The function for each field is created when its type is first used.
 */

/** A field of a message, or an embedded message with some members of the struct. */
interface Step {
  /** The place of its member among those of the struct; an embedded message has none. */
  readonly slot: number;
  /** Whether nothing is written if there is no value. */
  readonly optional: boolean;
  readonly write: Write;
  /** The fields of an embedded message, and its tag. */
  readonly nested: { readonly steps: readonly Step[]; readonly tag: number } | undefined;
}

/** The steps by which a struct is written. */
interface Plan {
  /** The fields in the order of their numbers. */
  readonly steps: readonly Step[];
  readonly names: Names;
  /** Number of its members. */
  readonly size: number;
}

const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Nodes of the members of the structs that are being written. */
let slots = new Int32Array(1024);
let slotsUsed = 0;

const writeNothing: Write = () => undefined;

/** Writes a field whose content has a length. */
const delimited =
  (number: number, write: Write): Write =>
  node => {
    const since = position();
    write(node);
    delimitFrom(since, (number << 3) | BYTES);
  };

/** Writes a field whose content shows its length. */
const plain = (number: number, wire: number, write: Write): Write => {
  const tag = (number << 3) | wire;
  return node => {
    write(node);
    writeVarint(tag);
  };
};

function scalarField(name: ScalarName, number: number): Write {
  const content = DELIMITED[name];
  if (content) return delimited(number, content);
  if (name === 'any') return writeNothing;
  if (name === 'bool') return plain(number, VARINT, writeBool);
  return name === 'double' ? plain(number, DOUBLE, writeDouble) : plain(number, VARINT, writeInteger);
}

/** The nodes in an array, or the keys in an object, in their order. */
function childrenOf(node: number, step: (child: number) => number): number[] {
  const { nodes } = tape;
  const children: number[] = [];
  const end = nodes[node + NEXT]!;
  for (let child = node + NODE; child < end; child = step(child)) children.push(child);
  return children;
}

const nextItem = (item: number): number => tape.nodes[item + NEXT]!;
const nextKey = (key: number): number => tape.nodes[key + NODE + NEXT]!;

/** The node; `ABSENT` for null, which counts as absent. */
const withoutNull = (node: number): number => (tape.first(node) === LETTER_N ? ABSENT : node);

function listField(of: Type, wrapper: string | undefined, number: number): Write {
  const item = fieldWriter(of, wrapper === undefined ? number : 1);
  const items: Write = node => {
    const children = childrenOf(node, nextItem);
    for (let i = children.length - 1; i >= 0; i--) item(withoutNull(children[i]!));
  };
  const list = wrapper === undefined ? items : delimited(number, items);
  return node => {
    if (node !== ABSENT && tape.first(node) === OPEN_BRACKET) list(node);
  };
}

/** Compares two keys by their bytes, as Go sorts the keys of maps. */
function compareKeys(a: number, b: number): number {
  if (tape.hasEscapes(a) || tape.hasEscapes(b))
    return Buffer.compare(Buffer.from(stringIn(a)), Buffer.from(stringIn(b)));
  const { bytes, nodes } = tape;
  const [startA, startB] = [nodes[a]! + 1, nodes[b]! + 1];
  const [lengthA, lengthB] = [nodes[a + END]! - startA - 1, nodes[b + END]! - startB - 1];
  const length = Math.min(lengthA, lengthB);
  for (let i = 0; i < length; i++) {
    const difference = bytes[startA + i]! - bytes[startB + i]!;
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

function mapField(of: Type, number: number): Write {
  const key = scalarField('string', 1);
  const value = fieldWriter(of, 2);
  const member = delimited(number, node => {
    value(withoutNull(node + NODE));
    key(node);
  });
  return node => {
    if (node === ABSENT || tape.first(node) !== OPEN_BRACE) return;
    const keys = childrenOf(node, nextKey).sort(compareKeys);
    for (let i = keys.length - 1; i >= 0; i--) member(keys[i]!);
  };
}

/** Makes the function that writes a field. */
function fieldWriter(type: Type, number: number): Write {
  if (type.is === 'scalar') return scalarField(type.name, number);
  if (type.is === 'list') return listField(type.of, type.wrapper, number);
  if (type.is === 'map') return mapField(type.of, number);
  // Types may contain themselves: their plans are made when they are first written.
  let write: Write | undefined;
  return delimited(number, node => {
    write ??= structWriter(type);
    write(node);
  });
}

/** The places of the members of a struct by the bytes of their names: a table of open addressing. */
class Names {
  readonly #names: (Uint8Array | undefined)[];
  readonly #slots: number[];
  readonly #mask: number;

  constructor(names: readonly string[]) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(1, names.length) * 4));
    this.#mask = size - 1;
    this.#names = new Array<Uint8Array | undefined>(size).fill(undefined);
    this.#slots = new Array<number>(size).fill(ABSENT);
    for (const [slot, name] of names.entries()) {
      const bytes = new Uint8Array(Buffer.from(name));
      let place = this.#hash(bytes, 0, bytes.length);
      while (this.#names[place]) place = (place + 1) & this.#mask;
      this.#names[place] = bytes;
      this.#slots[place] = slot;
    }
  }

  /** The place of the member with the name in these bytes; `ABSENT` if there is none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length === 0) return ABSENT;
    for (let place = this.#hash(bytes, start, end); ; place = (place + 1) & this.#mask) {
      const name = this.#names[place];
      if (name === undefined) return ABSENT;
      if (name.length !== length) continue;
      let i = 0;
      while (i < length && name[i] === bytes[start + i]) i++;
      if (i === length) return this.#slots[place]!;
    }
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    const [first, middle, last] = [bytes[start]!, bytes[(start + end) >> 1]!, bytes[end - 1]!];
    return (first + middle * 7 + last * 31 + (end - start) * 131) & this.#mask;
  }
}

/** Makes the plan of a struct: its fields on the wire, and the lookup of its members. */
function makePlan(struct: Struct): Plan {
  const names: string[] = [];
  const toStep = (entry: Entry): Step => {
    if ('nested' in entry) {
      const nested = { steps: entry.nested.map(toStep), tag: (entry.number << 3) | BYTES };
      return { slot: ABSENT, optional: false, write: writeNothing, nested };
    }
    const { name, type, pointer } = entry.field;
    const isBytes = type.is === 'scalar' && (type.name === 'bytes' || type.name === 'any');
    const optional = pointer || type.is === 'list' || type.is === 'map' || isBytes;
    const slot = names.push(name) - 1;
    return { slot, optional, write: fieldWriter(type, entry.number), nested: undefined };
  };
  const steps = wireEntries(struct).map(toStep);
  return { steps, names: new Names(names), size: names.length };
}

/** Writes fields from the last to the first. `base`: the place of the members of the struct in `slots`. */
function writeSteps(steps: readonly Step[], base: number): void {
  for (let i = steps.length - 1; i >= 0; i--) {
    const { slot, optional, write, nested } = steps[i]!;
    if (nested) {
      const since = position();
      writeSteps(nested.steps, base);
      delimitFrom(since, nested.tag);
      continue;
    }
    const node = slots[base + slot]!;
    if (node !== ABSENT || !optional) write(node);
  }
}

/** Records the nodes of the members of an object. */
function findMembers(node: number, names: Names, base: number): void {
  const { bytes, nodes } = tape;
  const end = nodes[node + NEXT]!;
  for (let key = node + NODE; key < end; key = nodes[key + NODE + NEXT]!) {
    const slot = names.find(bytes, nodes[key]! + 1, nodes[key + END]! - 1);
    if (slot !== ABSENT) slots[base + slot] = withoutNull(key + NODE);
  }
}

const plans = new WeakMap<Struct, Write>();

/** The function that writes the content of a struct. */
function structWriter(struct: Struct): Write {
  let write = plans.get(struct);
  if (!write) {
    write = struct.alternatives ? alternativesWriter(struct) : planWriter(makePlan(struct));
    plans.set(struct, write);
  }
  return write;
}

const planWriter =
  ({ steps, names, size }: Plan): Write =>
  node => {
    const base = slotsUsed;
    slotsUsed += size;
    if (slotsUsed > slots.length) {
      const larger = new Int32Array(slotsUsed * 2);
      larger.set(slots);
      slots = larger;
    }
    slots.fill(ABSENT, base, slotsUsed);
    if (node !== ABSENT && tape.first(node) === OPEN_BRACE) findMembers(node, names, base);
    writeSteps(steps, base);
    slotsUsed = base;
  };

/** Writes a value of a type with several JSON forms: the field of its form. */
function alternativesWriter(struct: Struct): Write {
  const fields = new Map(struct.fields.map(({ number, type }) => [number, fieldWriter(type, number)]));
  const isBool = (first: number): boolean => first === LETTER_T || first === LETTER_F;
  return node => {
    if (node === ABSENT) return;
    const first = tape.first(node);
    const isFirst = struct.alternatives === 'bool' ? isBool(first) : first !== OPEN_BRACKET;
    fields.get(isFirst ? 1 : 2)?.(node);
    if (struct.alternatives !== 'bool' || isFirst) return;
    writeVarint(1);
    writeVarint((1 << 3) | VARINT);
  };
}

/** Encodes the JSON text of an object, list or options type as a message. */
export function encodeText(struct: Struct, text: Uint8Array): Uint8Array {
  begin();
  slotsUsed = 0;
  tape.read(text);
  structWriter(struct)(0);
  return written();
}

/**
 * Encodes JSON texts as records: messages that are each preceded by a tag and their length. If `isPacked`, those that
 * contain longer parts of their text are packed (`packedEncodings.ts`). All are in one buffer, in order.
 */
export function encodeTexts(
  struct: Struct,
  texts: readonly Uint8Array[],
  tag: number,
  isPacked: boolean,
): Uint8Array[] {
  begin();
  slotsUsed = 0;
  const write = structWriter(struct);
  const lengths: number[] = [];
  for (let i = texts.length - 1; i >= 0; i--) {
    beginRecord(isPacked);
    const since = position();
    tape.read(texts[i]!);
    write(0);
    delimitFrom(since, tag);
    lengths.push(endRecord(since));
  }
  const { buffer } = written();
  let start = 0;
  return lengths.reverse().map(length => {
    start += length;
    return new Uint8Array(buffer, start - length, length);
  });
}
