import type { Embedded, Field, List, Merge, Scalar, ScalarName, StringMap, Struct, Type, Union } from '../model.js';
import { CORE_TYPES } from './coreTypes.js';
import { ENUMS } from './enums.js';
import { PLATFORM_TYPES } from './platformTypes.js';
import { WORKLOADS_TYPES } from './workloadsTypes.js';

const SCALARS: ReadonlySet<string> = new Set<ScalarName>([
  'string',
  'bool',
  'int32',
  'int64',
  'uint32',
  'double',
  'bytes',
  'any',
  'Time',
  'MicroTime',
  'Duration',
  'Quantity',
  'IntOrString',
  'FieldsV1',
  'RawExtension',
  'JSON',
]);

const TEXTS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ ...CORE_TYPES, ...WORKLOADS_TYPES, ...PLATFORM_TYPES }),
);

/** Raw lines of the types of one package, split on first use. */
const packages = new Map<string, ReadonlyMap<string, readonly string[]>>();
const structs = new Map<string, Struct>();
const scalars = new Map<string, Scalar>();
const composites = new Map<string, List | StringMap>();

function packageLines(name: string): ReadonlyMap<string, readonly string[]> {
  const known = packages.get(name);
  if (known) return known;
  const types = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of (TEXTS.get(name) ?? '').split('\n')) {
    if (line === '') continue;
    if (line[0] === ' ') current.push(line);
    else types.set(line.split(' ', 1)[0]!, (current = [line]));
  }
  packages.set(name, types);
  return types;
}

const packageOf = (id: string): string => id.slice(0, id.lastIndexOf('.'));
const linesOf = (id: string): readonly string[] | undefined =>
  packageLines(packageOf(id)).get(id.slice(id.lastIndexOf('.') + 1));

/** Words of the form `key=value` of a line. */
function words(parts: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of parts) {
    const at = part.indexOf('=');
    if (at > 0) found.set(part.slice(0, at), part.slice(at + 1));
  }
  return found;
}

function scalar(name: ScalarName, enumId?: string): Scalar {
  const key = enumId ? `${name} ${enumId}` : name;
  let found = scalars.get(key);
  if (!found) {
    found = { is: 'scalar', name, ...(enumId ? { enum: ENUMS[enumId] } : {}) };
    scalars.set(key, found);
  }
  return found;
}

function resolve(text: string, pkg: string, enumId?: string): Type {
  if (SCALARS.has(text)) return scalar(text as ScalarName, enumId);
  if (text.startsWith('[]') || text.startsWith('{}')) {
    const key = `${text} ${pkg} ${enumId ?? ''}`;
    const known = composites.get(key);
    if (known) return known;
    const made: List | StringMap = { is: text[0] === '[' ? 'list' : 'map', of: resolve(text.slice(2), pkg, enumId) };
    composites.set(key, made);
    return made;
  }
  const id = text[0] === '.' ? pkg + text : text;
  const head = linesOf(id)?.[0]?.split(' ');
  if (head?.includes('wrapper')) return { is: 'list', of: scalar('string'), wrapper: id };
  return typeOf(id);
}

function mergeOf(given: ReadonlyMap<string, string>): Merge {
  const [listType, keys] = given.get('list')?.split(':') ?? [];
  const patch = given.get('patch');
  return {
    ...(listType ? { listType: listType as Merge['listType'] } : {}),
    ...(keys ? { keys: keys.split(',') } : {}),
    ...(given.has('map') ? { mapType: given.get('map') as Merge['mapType'] } : {}),
    ...(patch ? { patchStrategy: patch.split(',') as Merge['patchStrategy'] } : {}),
    ...(given.has('by') ? { patchMergeKey: given.get('by') } : {}),
  };
}

function parseField(line: string, pkg: string): Field[] {
  const parts = line.slice(1).split(' ');
  const [name, number, type] = parts as [string, string, string];
  const flags = parts[3]?.match(/^[*?!]+$/) ? parts[3] : '';
  const given = words(parts.slice(3));
  const enumId = given.get('enum');
  const resolved = resolve(type, pkg, enumId?.startsWith('.') ? pkg + enumId : enumId);
  if (name === '+') return embedded(resolved as Struct, Number(number), given.get('pb') ?? '');
  const byDefault = given.get('default');
  return [
    {
      name,
      type: resolved,
      pointer: flags.includes('*'),
      omitEmpty: flags.includes('?'),
      required: flags.includes('!'),
      merge: mergeOf(given),
      number: Number(number),
      ...(byDefault === undefined ? {} : { default: JSON.parse(byDefault) as unknown }),
      ...(given.has('pb') ? { protoName: given.get('pb') } : {}),
      ...(given.has('one') ? { oneOf: given.get('one') } : {}),
      ...(given.has('gate') ? { gate: given.get('gate') } : {}),
    },
  ];
}

/** The fields of an embedded struct, each knowing the messages it is nested in on the wire. */
function embedded(struct: Struct, number: number, protoName: string): Field[] {
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

function unionOf(text: string | undefined): Union | undefined {
  if (!text) return undefined;
  const at = text.indexOf(':');
  const pairs = text
    .slice(at + 1)
    .split(',')
    .map(pair => pair.split(':') as [string, string]);
  return { discriminator: text.slice(0, at), members: new Map(pairs) };
}

const ALTERNATIVES = new Map<string, Struct['alternatives']>([
  ['JSONSchemaPropsOrArray', 'array'],
  ['JSONSchemaPropsOrBool', 'bool'],
  ['JSONSchemaPropsOrStringArray', 'strings'],
]);

/**
 * A struct whose fields are parsed when they are first asked for: most types are never used in one run, and types refer
 * to themselves.
 */
class TableStruct implements Struct {
  readonly is = 'struct';
  readonly typeMeta: boolean;
  readonly mapType: Struct['mapType'];
  readonly union: Union | undefined;
  readonly alternatives: Struct['alternatives'];
  readonly noProto: boolean;
  readonly #lines: readonly string[];
  #fields: readonly Field[] | undefined;
  #byName: ReadonlyMap<string, Field> | undefined;

  constructor(
    readonly id: string,
    lines: readonly string[],
  ) {
    const head = lines[0]!.split(' ');
    this.#lines = lines;
    this.typeMeta = head.includes('kind');
    this.mapType = head.includes('atomic') ? 'atomic' : head.includes('granular') ? 'granular' : undefined;
    this.union = unionOf(words(head).get('union'));
    this.alternatives = head.includes('custom') ? ALTERNATIVES.get(head[0]!) : undefined;
    this.noProto = head.includes('noproto');
  }

  get fields(): readonly Field[] {
    this.#fields ??= this.#lines.slice(1).flatMap(line => parseField(line, packageOf(this.id)));
    return this.#fields;
  }

  get field(): ReadonlyMap<string, Field> {
    this.#byName ??= new Map(this.fields.map(field => [field.name, field]));
    return this.#byName;
  }
}

/**
 * The struct of the table with that id (`core.v1.Pod`), undefined if there is none. One id always gives the same
 * object.
 */
export function findType(id: string): Struct | undefined {
  const known = structs.get(id);
  if (known) return known;
  const lines = linesOf(id);
  if (!lines) return undefined;
  const struct = new TableStruct(id, lines);
  structs.set(id, struct);
  return struct;
}

/** As `findType`, for ids that the program itself names. */
export function typeOf(id: string): Struct {
  const found = findType(id);
  if (!found) throw new Error(`the table has no type ${id}`);
  return found;
}

/** Ids of all types of a package, in table order. */
export const typesOfPackage = (name: string): readonly string[] =>
  [...packageLines(name).keys()].map(type => `${name}.${type}`);
