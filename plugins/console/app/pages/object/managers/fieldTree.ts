import { type ApiObject, type FieldSet, isFields, type ManagedFields } from '../../../api/objects.js';

/** A field with those who own it, and the owned fields below it. */
export interface OwnedField {
  /** As in a path: a name, the keys of an item, or a value of a set. */
  readonly label: string;
  /** The value of a field without owned fields below; undefined for others, and for one that is gone. */
  readonly value: unknown;
  readonly owners: readonly ManagedFields[];
  readonly fields: readonly OwnedField[];
}

interface Growing {
  readonly owners: ManagedFields[];
  readonly below: Map<string, Growing>;
}

/** Puts the fields of a manager into the tree. `.` stands for the field itself. */
function grow(at: Growing, set: FieldSet, entry: ManagedFields): void {
  const segments = Object.keys(set);
  if (segments.length === 0 || segments.includes('.')) at.owners.push(entry);
  for (const segment of segments) {
    if (segment === '.') continue;
    let next = at.below.get(segment);
    if (!next) at.below.set(segment, (next = { owners: [], below: new Map() }));
    grow(next, set[segment]!, entry);
  }
}

/** The keys, or the value, of a segment after `k:` or `v:`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values of some keys of an item, or the item itself without keys, as a text. */
const identityOf = (item: unknown, keys: readonly string[] | undefined): string =>
  JSON.stringify(keys ? keys.map(key => (isFields(item) ? item[key] : undefined)) : item);

/** Finds the values that segments lead to from one value: items by an index, since lists can be long. */
function finderIn(value: unknown): (segment: string) => unknown {
  const indexes = new Map<string, ReadonlyMap<string, unknown>>();
  const find = (list: readonly unknown[], item: unknown, keys?: readonly string[]): unknown => {
    const name = JSON.stringify(keys);
    // The first of equal items counts.
    const index =
      indexes.get(name) ?? new Map(list.toReversed().map((one): [string, unknown] => [identityOf(one, keys), one]));
    indexes.set(name, index);
    return index.get(identityOf(item, keys));
  };
  return segment => {
    const rest = segment.slice(2);
    if (segment.startsWith('f:')) return isFields(value) && Object.hasOwn(value, rest) ? value[rest] : undefined;
    if (!Array.isArray(value)) return undefined;
    if (segment.startsWith('i:')) return value[Number(rest)];
    const item = parsed(rest);
    if (segment.startsWith('v:')) return find(value, item);
    return isFields(item) ? find(value, item, Object.keys(item)) : undefined;
  };
}

/** A segment in words: `f:name` is the name, `k:{"name":"a"}` is `[name=a]`. */
export function labelOf(segment: string): string {
  const rest = segment.slice(2);
  if (segment.startsWith('f:')) return rest;
  const keys = parsed(rest);
  if (segment.startsWith('k:') && isFields(keys))
    return `[${Object.entries(keys)
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(', ')}]`;
  return segment.startsWith('v:') ? `[${String(keys)}]` : `[${rest}]`;
}

function fieldsOf({ below }: Growing, value: unknown): OwnedField[] {
  const find = finderIn(value);
  return [...below].map(([segment, at]) => {
    const own = find(segment);
    const isLeaf = at.below.size === 0;
    return { label: labelOf(segment), value: isLeaf ? own : undefined, owners: at.owners, fields: fieldsOf(at, own) };
  });
}

/** All fields of an object that somebody owns. */
export function ownedFields(object: ApiObject): OwnedField[] {
  const root: Growing = { owners: [], below: new Map() };
  for (const entry of object.metadata.managedFields ?? []) if (entry.fieldsV1) grow(root, entry.fieldsV1, entry);
  return fieldsOf(root, object);
}

/** The fields that one manager owns, with those that contain them. */
export function fieldsOfManager(fields: readonly OwnedField[], is: (entry: ManagedFields) => boolean): OwnedField[] {
  return fields.flatMap(field => {
    const below = fieldsOfManager(field.fields, is);
    return below.length > 0 || field.owners.some(is) ? [{ ...field, fields: below }] : [];
  });
}
