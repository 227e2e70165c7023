import type { Embedded, Field, Struct } from '../model.js';
import { CORE_DESCRIPTIONS } from './descriptions/core.js';
import { META_DESCRIPTIONS } from './descriptions/meta.js';
import { NETWORKS_DESCRIPTIONS } from './descriptions/networks.js';
import { PLATFORM_DESCRIPTIONS } from './descriptions/platform.js';
import { PODS_DESCRIPTIONS } from './descriptions/pods.js';
import { POLICY_DESCRIPTIONS } from './descriptions/policies.js';
import { SHARED_DESCRIPTIONS } from './descriptions/shared.js';
import { VOLUMES_DESCRIPTIONS } from './descriptions/volumes.js';
import { WHY_DESCRIPTIONS } from './descriptions/why.js';
import { WORKLOADS_DESCRIPTIONS } from './descriptions/workloads.js';
import { TableError } from './lines.js';

const MODULES: readonly { readonly [packageName: string]: string }[] = [
  CORE_DESCRIPTIONS,
  META_DESCRIPTIONS,
  NETWORKS_DESCRIPTIONS,
  PLATFORM_DESCRIPTIONS,
  PODS_DESCRIPTIONS,
  POLICY_DESCRIPTIONS,
  VOLUMES_DESCRIPTIONS,
  WHY_DESCRIPTIONS,
  WORKLOADS_DESCRIPTIONS,
];

/** The description of a type; `base` names the type of the same package whose fields it shares. */
interface Entry {
  readonly text: string;
  readonly base: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

/** Joins lines with their continuations, which begin with two spaces. */
const unwrapLines = (text: string): readonly string[] => text.trim().replaceAll('\n  ', ' ').split('\n');

/** The first word of a line, and the rest. */
function split(line: string): readonly [word: string, rest: string] {
  const at = line.indexOf(' ');
  return [line.slice(0, at), line.slice(at + 1)];
}

function fieldsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(lines.map(line => split(line.slice(1))));
}

function readEntries(text: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  const lines = unwrapLines(text);
  const heads = lines.flatMap((line, at) => (line[0] === ' ' ? [] : [at]));
  for (const [i, at] of heads.entries()) {
    const [type, rest] = split(lines[at]!);
    const [base, described] = rest[0] === '=' ? split(rest.slice(1)) : [undefined, rest];
    entries.set(type, { text: described, base, fields: fieldsOf(lines.slice(at + 1, heads[i + 1])) });
  }
  return entries;
}

/** Descriptions by package, read when one is first needed: only documents of the API need them. */
let packages: ReadonlyMap<string, ReadonlyMap<string, Entry>> | undefined;

function readPackages(): ReadonlyMap<string, ReadonlyMap<string, Entry>> {
  const all = new Map<string, Map<string, Entry>>();
  for (const [name, text] of MODULES.flatMap(module => Object.entries(module))) {
    const types = all.get(name) ?? new Map<string, Entry>();
    for (const [type, entry] of readEntries(text)) types.set(type, entry);
    all.set(name, types);
  }
  return all;
}

let shared: ReadonlyMap<string, string> | undefined;

const typeNameOf = (id: string): string => id.slice(id.lastIndexOf('.') + 1);
const packageOf = (id: string): string => id.slice(0, id.lastIndexOf('.'));
const groupOf = (packageName: string): string => packageName.split('.', 1)[0]!;

/** The entries of a type: of its own package, then of others of the group, each with those of its base. */
function* entriesOf(id: string): Generator<Entry> {
  packages ??= readPackages();
  const own = packageOf(id);
  const group = groupOf(own);
  const others = [...packages.keys()].filter(name => name !== own && groupOf(name) === group);
  for (const name of [own, ...others]) {
    const types = packages.get(name);
    for (let entry = types?.get(typeNameOf(id)); entry; entry = entry.base ? types?.get(entry.base) : undefined)
      yield entry;
  }
}

/** The struct in which an embedded field is declared. */
const innermost = (embedded: Embedded): string => (embedded.inner ? innermost(embedded.inner) : embedded.type);

function findField(id: string, name: string): string | undefined {
  for (const { fields } of entriesOf(id)) {
    const text = fields.get(name);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The kind that a list contains, if the type is the list of a kind. */
function itemOf(struct: Struct): string | undefined {
  const items = struct.field.get('items')?.type;
  if (!struct.typeMeta || items?.is !== 'list' || items.of.is !== 'struct') return undefined;
  return typeNameOf(items.of.id);
}

/** The description of a built-in type, in one to three sentences. Throws TableError if there is none. */
export function describeType(struct: Struct): string {
  const [entry] = entriesOf(struct.id);
  if (entry) return entry.text;
  const item = itemOf(struct);
  if (item === undefined) throw new TableError(struct.id, 'has no description');
  return `A list of objects of the kind ${item}.`;
}

/**
 * The description of a field of a built-in type: meaning, unit, default, allowed values and when it can change, as far
 * as they apply. Throws TableError if there is none.
 */
export function describeField(struct: Struct, field: Field): string {
  shared ??= readEntries(SHARED_DESCRIPTIONS).get('*')?.fields;
  const { name, inlinedFrom } = field;
  const isList = itemOf(struct) !== undefined;
  const text =
    findField(struct.id, name) ??
    (inlinedFrom && findField(innermost(inlinedFrom), name)) ??
    (isList && name === 'items' ? 'List of returned objects, one for each that matches.' : undefined) ??
    (isList && name === 'metadata' ? 'Resource version and paging of the list.' : undefined) ??
    shared?.get(name);
  if (text === undefined) throw new TableError(`${struct.id}.${name}`, 'has no description');
  return text;
}
