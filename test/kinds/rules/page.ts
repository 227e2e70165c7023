import type { Field, Struct } from '../../../core/schema/model.js';
import type { Resource } from '../../../core/schema/resource.js';
import { registryOf } from '../builtIn.js';

/** An object that is valid, and the path at which such objects are created. */
export interface Base {
  readonly path: string;
  readonly object: { readonly [member: string]: unknown; readonly apiVersion: string; readonly kind: string };
}

/** A change of a base that is refused, with `field: message` of each violation. */
export interface RecordedRule {
  readonly base: number;
  readonly operation: 'create' | 'update';
  readonly at: readonly (string | number)[];
  /** If absent, the member is removed. */
  readonly value?: unknown;
  readonly lines: readonly string[];
}

/** Differences from upstream, by kind, with the reason. */
export type Differences = { readonly [kind: string]: readonly string[] };

/** The values by key, in the order of their first keys. */
function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

/** The resource of a base. */
export function resourceOf({ object }: Base): Resource {
  const found = registryOf('kubernetes').byKind(object.apiVersion, object.kind);
  if (!found) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
  return found;
}

const fieldText = (at: readonly (string | number)[]): string =>
  at.map((key, i) => (typeof key === 'number' ? '[]' : i === 0 ? key : `.${key}`)).join('');

const structIn = (type: Field['type']): Struct | undefined =>
  type.is === 'struct' ? type : type.is === 'scalar' ? undefined : structIn(type.of);

/** Fields that all kinds share, or that only servers and controllers write. */
const COMMON = new Set(['metadata', 'status', 'apiVersion', 'kind']);

/** The types below a struct, by id. */
function typesBelow(struct: Struct, found: Map<string, Struct>): Map<string, Struct> {
  for (const field of struct.fields) {
    const inner = structIn(field.type);
    if (!inner || found.has(inner.id) || COMMON.has(field.name)) continue;
    found.set(inner.id, inner);
    typesBelow(inner, found);
  }
  return found;
}

/** Records the fields of a struct that a value has, as `type field`. */
function noteFields(struct: Struct, value: unknown, covered: Set<string>): void {
  for (const [name, member] of Object.entries((value ?? {}) as { [name: string]: unknown })) {
    const field = struct.field.get(name);
    if (!field) continue;
    covered.add(`${struct.id} ${name}`);
    const inner = structIn(field.type);
    if (!inner) continue;
    const values =
      field.type.is === 'map' ? Object.values(member as object) : Array.isArray(member) ? member : [member];
    for (const one of values) noteFields(inner, one, covered);
  }
}

/**
 * The fields of the types of served kinds that no base has: `type field`. Fields that are common to all kinds are left
 * out.
 */
export function uncoveredFields(bases: readonly Base[]): string[] {
  const covered = new Set<string>();
  for (const base of bases) noteFields(resourceOf(base).type, base.object, covered);
  const types = new Map<string, Struct>();
  const versions = [...registryOf('kubernetes').groups.values()].flatMap(group => group.versions);
  for (const { served, resources } of versions)
    for (const { type, stored } of resources.values()) {
      if (!served || !stored) continue;
      types.set(type.id, type);
      typesBelow(type, types);
    }
  return [...types.values()]
    .flatMap(({ id, fields }) => fields.filter(({ name }) => !COMMON.has(name)).map(({ name }) => `${id} ${name}`))
    .filter(field => !covered.has(field))
    .sort();
}

const ruleText = (message: string): string =>
  message
    .replace(
      /^(Invalid|Unsupported|Duplicate|Required) value: (?:"(?:[^"\\]|\\.)*"|<value>|-?\d+|true|false)(?:: |$)/,
      '$1: ',
    )
    .replace(/compilation failed: [\s\S]*$/, 'compilation failed')
    .replace(/ \(e\.g\. [\s\S]*$/, '')
    .replace(/\(regex used[\s\S]*$/, '')
    .replace(/: $/, '')
    .replaceAll('|', '\\|')
    .split('\n', 1)[0]!;

/** The page of the checks of each kind, and of the differences from upstream. */
export function kindsPage(bases: readonly Base[], rules: readonly RecordedRule[], differences: Differences): string {
  const byKind = groupBy(rules, ({ base }) => `${bases[base]!.object.kind} (${bases[base]!.object.apiVersion})`);
  const sections = [...byKind].sort().map(([kind, all]) => {
    const checks = new Map<string, Set<string>>();
    for (const { at, lines } of all)
      for (const line of lines) {
        const text = ruleText(line.slice(line.indexOf(': ') + 2));
        const field = fieldText(at);
        checks.set(field, (checks.get(field) ?? new Set()).add(text));
      }
    const rows = [...checks].map(([field, texts]) => `| \`${field}\` | ${[...texts].join('; ')} |`);
    const different = (differences[kind] ?? []).map(text => `- Differs: ${text}`);
    return [
      `## ${kind}`,
      '',
      '| field that is changed | what is refused |',
      '|---|---|',
      ...rows,
      '',
      ...different,
    ].join('\n');
  });
  const head = [
    '# Rules of kinds',
    'What is checked of objects of built-in kinds beyond the types of their fields, by the field whose change is refused.',
    'Generated by `npm run differential` from recorded refusals.',
  ];
  // Kinds without a recorded rule, and notes on several kinds.
  const others = Object.keys(differences).filter(name => !byKind.has(name));
  const lists = others.map(name => [`## ${name}`, '', ...differences[name]!.map(text => `- ${text}`)].join('\n'));
  return `${head.join('\n')}\n\n${[...lists, ...sections].map(section => section.trimEnd()).join('\n\n')}\n`;
}

/** The neutral storage name of the kind of a base. */
export const storageNameOf = (base: Base): string => resourceOf(base).storageName;
