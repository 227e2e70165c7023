import {
  type Embedded,
  type Field,
  type List,
  SCALAR_NAMES,
  type Scalar,
  type ScalarName,
  type StringMap,
  type Struct,
  type Type,
  type Union,
} from '../model.js';
import { readFieldLine, readTypeLine, TableError } from './lines.js';

const SCALARS: ReadonlySet<string> = new Set(SCALAR_NAMES);

/** The lines of a kind's list type. */
const listLines = (type: string): readonly string[] => [
  `${type}List kind`,
  ' metadata 1 meta.v1.ListMeta ?',
  ` items 2 [].${type} !`,
];

const packageOf = (id: string): string => id.slice(0, id.lastIndexOf('.'));

/** The id of a name that may be relative to a package: `.PodSpec`. */
const idIn = (pkg: string, name: string): string => (name[0] === '.' ? pkg + name : name);

/** The fields of an embedded struct, each with the messages in which it is nested on the wire. */
function embeddedFields(struct: Struct, number: number, protoName: string): Field[] {
  return struct.fields.map(field => {
    const from: Embedded = {
      number,
      protoName,
      type: struct.id,
      ...(field.inlinedFrom ? { inner: field.inlinedFrom } : {}),
    };
    return { ...field, inlinedFrom: from };
  });
}

/**
 * Types as text (README.md explains the form), by package. A package is split when one of its types is first requested,
 * and the fields of a type are read when they are first used, because most types are never used in a run, and types may
 * refer to themselves. Anything that cannot be read throws a TableError that names the type, the field and the word.
 */
export class TypeTable {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #enums: { readonly [id: string]: readonly string[] };
  readonly #packages = new Map<string, ReadonlyMap<string, readonly string[]>>();
  readonly #structs = new Map<string, Struct>();
  readonly #scalars = new Map<string, Scalar>();
  readonly #composites = new Map<string, List | StringMap>();

  constructor(texts: { readonly [packageName: string]: string }, enums: { readonly [id: string]: readonly string[] }) {
    this.#texts = new Map(Object.entries(texts));
    this.#enums = enums;
  }

  /** The struct with that id (`core.v1.Pod`), undefined if there is none. One id always gives the same object. */
  find(id: string): Struct | undefined {
    const known = this.#structs.get(id);
    if (known) return known;
    const lines = this.#linesOf(id);
    if (!lines) return undefined;
    const struct = new TableStruct(id, lines, line => this.#fieldsOf(line, id));
    this.#structs.set(id, struct);
    return struct;
  }

  /** Ids of all types of a package, in table order. */
  idsOf(packageName: string): readonly string[] {
    return [...this.#packageLines(packageName).keys()].map(type => `${packageName}.${type}`);
  }

  #packageLines(name: string): ReadonlyMap<string, readonly string[]> {
    const known = this.#packages.get(name);
    if (known) return known;
    const types = new Map<string, readonly string[]>();
    let current: string[] = [];
    for (const line of (this.#texts.get(name) ?? '').split('\n')) {
      if (line === '') continue;
      if (line[0] === ' ') current.push(line);
      else if (line.startsWith('as ')) this.#addSame(types, line, name);
      else types.set(line.split(' ', 1)[0]!, (current = [line]));
    }
    for (const [type, [head = '']] of [...types])
      if (head.split(' ').includes('list')) types.set(`${type}List`, listLines(type));
    this.#packages.set(name, types);
    return types;
  }

  /** Adds the types of another package that a line `as PACKAGE NAME…` names: their lines are the same in both. */
  #addSame(types: Map<string, readonly string[]>, line: string, packageName: string): void {
    const [, from = '', ...names] = line.split(' ');
    for (const type of names) {
      const lines = this.#packageLines(from).get(type);
      if (!lines) throw new TableError(packageName, `${from} has no type ${type}`);
      types.set(type, lines);
    }
  }

  #linesOf(id: string): readonly string[] | undefined {
    return this.#packageLines(packageOf(id)).get(id.slice(id.lastIndexOf('.') + 1));
  }

  #fieldsOf(line: string, typeId: string): readonly Field[] {
    const { type, enumId, ...field } = readFieldLine(line, typeId);
    const pkg = packageOf(typeId);
    const where = `${typeId}.${field.name}`;
    const resolved = this.#resolve(type, pkg, enumId && idIn(pkg, enumId), where);
    if (field.name !== '+') return [{ ...field, type: resolved }];
    if (resolved.is !== 'struct') throw new TableError(where, `${type} cannot be embedded: it is not a struct`);
    return embeddedFields(resolved, field.number, field.protoName ?? '');
  }

  /** The type that a field names. */
  #resolve(text: string, pkg: string, enumId: string | undefined, where: string): Type {
    if (SCALARS.has(text)) return this.#scalar(text as ScalarName, enumId, where);
    if (text.startsWith('[]') || text.startsWith('{}')) {
      const key = `${text} ${pkg} ${enumId ?? ''}`;
      const known = this.#composites.get(key);
      if (known) return known;
      const of = this.#resolve(text.slice(2), pkg, enumId, where);
      const made: List | StringMap = { is: text[0] === '[' ? 'list' : 'map', of };
      this.#composites.set(key, made);
      return made;
    }
    const id = idIn(pkg, text);
    const head = this.#linesOf(id)?.[0];
    if (head === undefined) throw new TableError(where, `unknown type ${JSON.stringify(text)}`);
    if (readTypeLine(head, packageOf(id)).isWrapper)
      return { is: 'list', of: this.#scalar('string', undefined, where), wrapper: id };
    return this.find(id)!;
  }

  #scalar(name: ScalarName, enumId: string | undefined, where: string): Scalar {
    const key = enumId ? `${name} ${enumId}` : name;
    let found = this.#scalars.get(key);
    if (!found) {
      if (enumId && !Object.hasOwn(this.#enums, enumId)) throw new TableError(where, `unknown enum ${enumId}`);
      found = { is: 'scalar', name, ...(enumId ? { enum: this.#enums[enumId], enumId } : {}) };
      this.#scalars.set(key, found);
    }
    return found;
  }
}

/** A struct whose fields are read when they are first used. */
class TableStruct implements Struct {
  readonly is = 'struct';
  readonly typeMeta: boolean;
  readonly mapType: Struct['mapType'];
  readonly union: Union | undefined;
  readonly alternatives: Struct['alternatives'];
  readonly noProto: boolean;
  readonly #lines: readonly string[];
  readonly #read: (line: string) => readonly Field[];
  #fields: readonly Field[] | undefined;
  #byName: ReadonlyMap<string, Field> | undefined;

  constructor(
    readonly id: string,
    lines: readonly string[],
    read: (line: string) => readonly Field[],
  ) {
    const head = readTypeLine(lines[0]!, packageOf(id));
    this.#lines = lines;
    this.#read = read;
    this.typeMeta = head.isKind;
    this.mapType = head.mapType;
    this.union = head.union;
    this.alternatives = head.alternatives;
    this.noProto = head.noProto;
  }

  get fields(): readonly Field[] {
    this.#fields ??= this.#lines.slice(1).flatMap(this.#read);
    return this.#fields;
  }

  get field(): ReadonlyMap<string, Field> {
    this.#byName ??= new Map(this.fields.map(field => [field.name, field]));
    return this.#byName;
  }
}
