import type { Merge, Struct, Union } from '../model.js';

/** Thrown for a malformed line of the table when it is first used: an error in the table itself. */
export class TableError extends Error {
  /** `where` names the type, the field or the resource of the line. */
  constructor(where: string, why: string) {
    super(`the table of built-in kinds: ${where}: ${why}`);
  }
}

/** A line that begins a type. */
export interface TypeLine {
  readonly isKind: boolean;
  /** Whether the type is the list in its first field. */
  readonly isWrapper: boolean;
  readonly mapType: Struct['mapType'];
  readonly alternatives: Struct['alternatives'];
  readonly noProto: boolean;
  readonly union: Union | undefined;
}

/** A line of a field; names of types and enums are as written. */
export interface FieldLine {
  /** `+` for an embedded struct. */
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly merge: Merge;
  readonly default?: unknown;
  readonly enumId?: string;
  readonly protoName?: string;
  readonly oneOf?: string;
  readonly gate?: string;
  readonly bare?: boolean;
  readonly keepsEmpty?: boolean;
}

const TYPE_MARKERS = new Set(['kind', 'atomic', 'granular', 'wrapper', 'custom', 'noproto', 'unreached', 'list']);
const TYPE_SETTINGS = new Set(['union']);
const FIELD_MARKERS: ReadonlySet<string> = new Set(['bare', 'keeps']);
const FIELD_SETTINGS = new Set(['list', 'map', 'patch', 'by', 'default', 'enum', 'pb', 'gate', 'one']);
const FLAGS = /^\*?\??!?$/;

const LIST_TYPES = ['atomic', 'set', 'map'] as const;
const MAP_TYPES = ['atomic', 'granular'] as const;
const PATCH_STRATEGIES = ['merge', 'replace', 'retainKeys'] as const;

/** Types whose JSON form is one of several, by name. */
const ALTERNATIVES = new Map<string, Struct['alternatives']>([
  ['JSONSchemaPropsOrArray', 'array'],
  ['JSONSchemaPropsOrBool', 'bool'],
  ['JSONSchemaPropsOrStringArray', 'strings'],
]);

/** Markers (`word`) and settings (`word=value`) of a line. Throws TableError for an unknown or repeated word. */
export function readWords(
  words: readonly string[],
  markers: ReadonlySet<string>,
  settings: ReadonlySet<string>,
  where: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const name = at < 0 ? word : word.slice(0, at);
    if (!(at < 0 ? markers : settings).has(name)) throw new TableError(where, `unknown word ${JSON.stringify(word)}`);
    if (found.has(name)) throw new TableError(where, `${name} is given twice`);
    found.set(name, at < 0 ? '' : word.slice(at + 1));
  }
  return found;
}

/** The value, if it is one of `allowed`. Throws TableError. */
export function readOneOf<T extends string>(value: string, allowed: readonly T[], what: string, where: string): T {
  const found = allowed.find(one => one === value);
  if (found === undefined)
    throw new TableError(where, `unknown ${what} ${JSON.stringify(value)}; must be one of ${allowed.join(', ')}`);
  return found;
}

function readUnion(text: string, where: string): Union {
  const at = text.indexOf(':');
  const pairs = text
    .slice(at + 1)
    .split(',')
    .map(pair => pair.split(':'));
  if (at < 1 || pairs.some(pair => pair.length !== 2 || pair.includes('')))
    throw new TableError(where, `union=${text} is not of the form union=discriminator:member:value,…`);
  return { discriminator: text.slice(0, at), members: new Map(pairs as [string, string][]) };
}

/** Reads a line that begins a type of a package. Throws TableError. */
export function readTypeLine(line: string, packageName: string): TypeLine {
  const [name = '', ...words] = line.split(' ');
  const where = `${packageName}.${name}`;
  const given = readWords(words, TYPE_MARKERS, TYPE_SETTINGS, where);
  const alternatives = ALTERNATIVES.get(name);
  if (given.has('custom') !== (alternatives !== undefined))
    throw new TableError(where, 'types with alternative JSON forms, and no others, are marked custom');
  const union = given.get('union');
  return {
    isKind: given.has('kind'),
    isWrapper: given.has('wrapper'),
    mapType: MAP_TYPES.find(type => given.has(type)),
    alternatives,
    noProto: given.has('noproto'),
    union: union === undefined ? undefined : readUnion(union, where),
  };
}

function readMerge(given: ReadonlyMap<string, string>, where: string): Merge {
  const [listType, keys] = given.get('list')?.split(':') ?? [];
  const mapType = given.get('map');
  const patch = given.get('patch');
  const mergeKey = given.get('by');
  return {
    ...(listType === undefined ? {} : { listType: readOneOf(listType, LIST_TYPES, 'list type', where) }),
    ...(keys === undefined ? {} : { keys: keys.split(',') }),
    ...(mapType === undefined ? {} : { mapType: readOneOf(mapType, MAP_TYPES, 'map type', where) }),
    ...(patch === undefined
      ? {}
      : { patchStrategy: patch.split(',').map(one => readOneOf(one, PATCH_STRATEGIES, 'patch strategy', where)) }),
    ...(mergeKey === undefined ? {} : { patchMergeKey: mergeKey }),
  };
}

function readDefault(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TableError(where, `default=${text} is not JSON`);
  }
}

const NO_MERGE: Merge = {};

/** Reads a line of a field of the type with that id. Throws TableError. */
export function readFieldLine(line: string, typeId: string): FieldLine {
  const [name = '', number = '', type = '', ...rest] = line.slice(1).split(' ');
  const where = `${typeId}.${name}`;
  if (!/^\d+$/.test(number)) throw new TableError(where, `${JSON.stringify(number)} is not a protobuf number`);
  if (type === '') throw new TableError(where, 'the type is missing');
  const flags = /^[*?!]/.test(rest[0] ?? '') ? rest.shift()! : '';
  if (!FLAGS.test(flags))
    throw new TableError(where, `unknown flags ${JSON.stringify(flags)}; must be of *?! in this order`);
  const field = {
    name,
    number: Number(number),
    type,
    pointer: flags.includes('*'),
    omitEmpty: flags.includes('?'),
    required: flags.includes('!'),
  };
  if (rest.length === 0) return { ...field, merge: NO_MERGE };
  const given = readWords(rest, FIELD_MARKERS, FIELD_SETTINGS, where);
  const byDefault = given.get('default');
  return {
    ...field,
    merge: readMerge(given, where),
    ...(byDefault === undefined ? {} : { default: readDefault(byDefault, where) }),
    ...(given.has('enum') ? { enumId: given.get('enum') } : {}),
    ...(given.has('pb') ? { protoName: given.get('pb') } : {}),
    ...(given.has('one') ? { oneOf: given.get('one') } : {}),
    ...(given.has('gate') ? { gate: given.get('gate') } : {}),
    ...(given.has('bare') ? { bare: true } : {}),
    ...(given.has('keeps') ? { keepsEmpty: true } : {}),
  };
}
