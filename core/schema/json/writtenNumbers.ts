import { isMembers } from '../patch/members.js';
import type { Json } from '../../model/object.js';
import type { Struct, Type } from '../model.js';
import { goScalar } from '../decode/scalars.js';

/**
 * Numbers whose meaning depends on their written form, which a parsed value does not show: `1.0` and `1e3` are not
 * integers for upstream's decoders of built-in kinds, and a quantity is the text of its number. Only texts in which
 * numbers have fractions, exponents or many digits need these functions.
 */

/** The numbers of a text, read for the fields of a type. */
export interface WrittenNumbers {
  /** The text, with strings in place of numbers that represent quantities. */
  readonly text: string;
  /** Upstream's message about the first number that its field does not accept; undefined if there is none. */
  readonly mismatch: string | undefined;
}

/** The type of a value, and the names of the fields that lead to it. */
interface Place {
  readonly type: Type | undefined;
  readonly fields: readonly string[];
  /** The name of the struct that has the field. */
  readonly struct: string;
}

const NOWHERE: Place = { type: undefined, fields: [], struct: '' };

/** The place of a member of a place; without a type for members of values that decode JSON themselves. */
function memberPlace({ type, fields, struct }: Place, name: string): Place {
  if (type?.is === 'map') return { type: type.of, fields, struct };
  if (type?.is !== 'struct') return NOWHERE;
  if (type.alternatives) return memberPlace({ type: schemaOf(type), fields, struct }, name);
  const field = type.field.get(name);
  if (!field) return NOWHERE;
  return { type: field.type, fields: [...fields, name], struct: type.id.slice(type.id.lastIndexOf('.') + 1) };
}

const schemaOf = (type: Struct): Type => type.fields.find(field => field.type.is === 'struct')!.type;

function itemPlace({ type, fields, struct }: Place): Place {
  if (type?.is === 'list') return { type: type.of, fields, struct };
  if (type?.is !== 'struct' || !type.alternatives) return NOWHERE;
  const list = type.fields.find(field => field.type.is === 'list')?.type;
  return list?.is === 'list' ? { type: list.of, fields, struct } : NOWHERE;
}

/** The place that a JSON pointer leads to (RFC 6901). */
function pointedPlace(root: Place, pointer: string): Place {
  const names = pointer.split('/').slice(1);
  return names.reduce<Place>((place, name) => {
    const plain = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return place.type?.is === 'list' ? itemPlace(place) : memberPlace(place, plain);
  }, root);
}

const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['IntOrString', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['uint32', [0n, 2n ** 32n - 1n]],
  ['int64', [-(2n ** 63n), 2n ** 63n - 1n]],
]);

/** Allows more digits than integers of 64 bits have; longer texts need not be parsed. */
const INTEGER = /^-?\d{1,20}$/;

function fits(text: string, [min, max]: readonly [bigint, bigint]): boolean {
  if (!INTEGER.test(text)) return false;
  const value = BigInt(text);
  return value >= min && value <= max;
}

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Reads a text of valid JSON. */
class NumberReader {
  mismatch: string | undefined;
  #at = 0;
  #copied = 0;
  #out = '';

  constructor(readonly source: string) {}

  get text(): string {
    return this.#out + this.source.slice(this.#copied);
  }

  /** Reads a value. `memberOf` and `itemOf` give the places of members and items. */
  read(place: Place, memberOf = memberPlace, itemOf: (place: Place, at: number) => Place = itemPlace): void {
    const first = this.#next();
    if (first === '{') this.#object(place, memberOf);
    else if (first === '[') this.#list(place, itemOf);
    else if (first === '"') this.#string();
    else if (first === '-' || (first >= '0' && first <= '9')) this.#number(place);
    else while (/[a-z]/.test(this.source[this.#at] ?? '')) this.#at++;
  }

  /** Reads a list of the operations of a JSON Patch of an object, whose parsed form is `operations`. */
  readPatch(root: Place, operations: Json): void {
    const ofOperation = (at: number): Place => {
      const operation = Array.isArray(operations) ? operations[at] : undefined;
      if (!isMembers(operation)) return NOWHERE;
      const { op, path } = operation;
      return (op === 'add' || op === 'replace') && typeof path === 'string' ? pointedPlace(root, path) : NOWHERE;
    };
    if (this.#next() !== '[') return;
    this.#list(
      NOWHERE,
      (_list, at) => ofOperation(at),
      (place, name) => (name === 'value' ? place : NOWHERE),
    );
  }

  /** The next character that is not blank. */
  #next(): string {
    while (/\s/.test(this.source[this.#at] ?? '')) this.#at++;
    return this.source[this.#at] ?? '';
  }

  #object(place: Place, memberOf: (place: Place, name: string) => Place): void {
    this.#at++;
    while (this.#next() === '"') {
      const name = this.#string();
      this.#next();
      this.#at++;
      this.read(memberOf(place, name));
      if (this.#next() === ',') this.#at++;
    }
    this.#at++;
  }

  #list(place: Place, itemOf: (place: Place, at: number) => Place, memberOf = memberPlace): void {
    this.#at++;
    for (let index = 0; this.#next() !== ']' && this.#at < this.source.length; index++) {
      this.read(itemOf(place, index), memberOf);
      if (this.#next() === ',') this.#at++;
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at++;
    while (this.source[this.#at] !== '"') this.#at += this.source[this.#at] === '\\' ? 2 : 1;
    return JSON.parse(this.source.slice(start, ++this.#at)) as string;
  }

  #number({ type, fields, struct }: Place): void {
    NUMBER.lastIndex = this.#at;
    const start = this.#at;
    const text = NUMBER.exec(this.source)![0];
    this.#at += text.length;
    if (type?.is !== 'scalar') return;
    if (type.name === 'Quantity') {
      this.#out += `${this.source.slice(this.#copied, start)}"${text}"`;
      this.#copied = this.#at;
    }
    const range = RANGES.get(type.name);
    if (!range || fits(text, range)) return;
    const goType = goScalar(type.name === 'IntOrString' ? 'int32' : type.name);
    const into = fields.length > 0 ? `Go struct field ${struct}.${fields.join('.')}` : 'Go value';
    this.mismatch ??= `json: cannot unmarshal number ${text} into ${into} of type ${goType}`;
  }
}

/** Reads the numbers in the text of an object, or in a merge patch of it. `text` must be valid JSON. */
export function writtenNumbers(text: string, type: Struct): WrittenNumbers {
  const reader = new NumberReader(text);
  reader.read({ type, fields: [], struct: '' });
  return reader;
}

/** Reads the numbers in the text of a JSON Patch, whose parsed form is `operations`. `text` must be valid JSON. */
export function writtenNumbersOfPatch(text: string, operations: Json, type: Struct): WrittenNumbers {
  const reader = new NumberReader(text);
  reader.readPatch({ type, fields: [], struct: '' }, operations);
  return reader;
}
