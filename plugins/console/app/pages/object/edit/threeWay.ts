import type { Document } from 'yaml';
import { type Fields, isFields } from '../../../api/objects.js';
import type { Path } from './yamlText.js';

/** A change to a field: its new value, or its removal. */
export interface FieldChange {
  readonly path: Path;
  /** Undefined: removed. */
  readonly value: unknown;
  /** Whether the server sets the field, so that the change is not a user's decision. */
  readonly isOfServer?: boolean;
}

/** A field that both sides have changed, each in its own way. */
export interface FieldConflict {
  readonly path: Path;
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** The changes of one side that fit the other one, and those that do not. Paths are those of the text `mine`. */
export interface ThreeWay {
  readonly changes: readonly FieldChange[];
  readonly conflicts: readonly FieldConflict[];
}

/** Whether two values of texts are equal. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** A field of a map. Its keys may be names that every object has, such as `constructor`. */
const ownField = (of: Fields, key: string): unknown => (Object.hasOwn(of, key) ? of[key] : undefined);

/** A list whose items have different names, by name; undefined for others. */
function byName(list: readonly unknown[]): Map<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const item of list) {
    const name = isFields(item) ? item['name'] : undefined;
    if (typeof name !== 'string' || named.has(name)) return undefined;
    named.set(name, item);
  }
  return named;
}

/** Fields that the server sets: its newest value is the right one, whatever the text says. */
const OF_SERVER: readonly Path[] = [
  ['metadata', 'resourceVersion'],
  ['metadata', 'generation'],
  ['metadata', 'uid'],
  ['metadata', 'creationTimestamp'],
];

/** Whether a field is set by the server, or is below one. */
const isOfServer = (path: Path, further: readonly Path[]): boolean =>
  [...OF_SERVER, ...further].some(field => field.every((part, i) => part === path[i]));

/**
 * Compares two versions of an object that were both made from a third one. `ofServer`: further fields that writes of
 * the object do not change, such as a status that is written separately.
 */
export function compareThree(base: unknown, mine: unknown, theirs: unknown, ofServer: readonly Path[] = []): ThreeWay {
  const changes: FieldChange[] = [];
  const conflicts: FieldConflict[] = [];
  const visitNamed = (path: Path, of: readonly [unknown[], unknown[], unknown[]]): boolean => {
    const [b, m, t] = of.map(byName);
    if (!b || !m || !t) return false;
    const places = new Map([...m.keys()].map((name, i) => [name, i]));
    for (const name of new Set([...b.keys(), ...t.keys()])) {
      const place = places.get(name) ?? places.size;
      places.set(name, place);
      visit([...path, place], b.get(name), m.get(name), t.get(name));
    }
    return true;
  };
  const visit = (path: Path, b: unknown, m: unknown, t: unknown): void => {
    if (isOfServer(path, ofServer)) {
      if (!isEqual(m, t)) changes.push({ path, value: t, isOfServer: true });
    } else if (isEqual(b, t) || isEqual(m, t)) return;
    else if (isEqual(b, m)) changes.push({ path, value: t });
    else if (isFields(m) && isFields(t) && (isFields(b) || b === undefined)) {
      const from = b ?? {};
      for (const key of new Set([...Object.keys(from), ...Object.keys(m), ...Object.keys(t)]))
        visit([...path, key], ownField(from, key), ownField(m, key), ownField(t, key));
    } else if (!Array.isArray(b) || !Array.isArray(m) || !Array.isArray(t) || !visitNamed(path, [b, m, t]))
      conflicts.push({ path, base: b, mine: m, theirs: t });
  };
  visit([], base, mine, theirs);
  return { changes, conflicts };
}

/** Later fields and items first, so that a removal does not change the indexes of other changes. */
function compareBackwards(a: Path, b: Path): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (typeof x === 'number' && typeof y === 'number' && x !== y) return y - x;
    if (x !== y) return String(x) < String(y) ? 1 : -1;
  }
  return b.length - a.length;
}

/** Makes changes to a document. Comments on other fields are kept. */
export function applyChanges(doc: Document, changes: readonly FieldChange[]): void {
  for (const { path, value } of changes) if (value !== undefined) doc.setIn(path, doc.createNode(value));
  const removed = changes.filter(({ value }) => value === undefined).map(({ path }) => path);
  for (const path of removed.sort(compareBackwards)) if (doc.hasIn(path)) doc.deleteIn(path);
}
