import type { ApiObject, FieldSet, ManagedFields } from '../../../api/objects.js';

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

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keys, or the value, of a segment behind `k:` or `v:`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value that a segment leads to. */
export function valueAt(value: unknown, segment: string): unknown {
  const rest = segment.slice(2);
  if (segment.startsWith('f:')) return isFields(value) && Object.hasOwn(value, rest) ? value[rest] : undefined;
  if (!Array.isArray(value)) return undefined;
  if (segment.startsWith('v:')) return value.find(item => JSON.stringify(item) === rest);
  if (segment.startsWith('i:')) return value[Number(rest)];
  const keys = parsed(rest);
  if (!isFields(keys)) return undefined;
  return value.find(item => isFields(item) && Object.entries(keys).every(([key, of]) => item[key] === of));
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
  return [...below].map(([segment, at]) => {
    const own = valueAt(value, segment);
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
