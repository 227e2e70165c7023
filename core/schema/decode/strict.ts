import { StrictErrors } from './strictErrors.js';
import type { Struct, Type } from '../model.js';

/** Any value: duplicate members are reported, but no member is unknown. */
const ANY: Type = { is: 'scalar', name: 'any' };

/** A container that is being scanned. */
interface Frame {
  /** Path of the container. */
  readonly path: string;
  readonly isObject: boolean;
  /** Names of the members so far; undefined if the container is not inspected. */
  readonly seen: Set<string> | undefined;
  /** Type of the container; undefined if its contents are not inspected, since its type decodes JSON itself. */
  readonly type: Type | undefined;
  index: number;
  /** Path and type of the next value. */
  next: string;
  nextType: Type | undefined;
}

/** The type, if its JSON can be inspected; undefined for types that decode their JSON themselves. */
function inspectable(type: Type | undefined): Type | undefined {
  if (!type) return undefined;
  if (type.is === 'scalar') return type.name === 'any' ? type : undefined;
  return type.is === 'struct' && type.alternatives ? undefined : type;
}

const itemType = (type: Type | undefined): Type | undefined =>
  type?.is === 'list' || type?.is === 'map' ? type.of : type?.is === 'scalar' ? type : undefined;

function makeFrame(path: string, type: Type | undefined, isObject: boolean): Frame {
  const inner = inspectable(type);
  return {
    path,
    isObject,
    seen: isObject && inner ? new Set() : undefined,
    type: inner,
    index: 0,
    next: isObject ? path : `${path}[0]`,
    nextType: isObject ? undefined : itemType(inner),
  };
}

/** The position of the closing quote of the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

const ENVELOPE: ReadonlySet<string> = new Set(['kind', 'apiVersion']);
const STRING: Type = { is: 'scalar', name: 'string' };

/** The type of a struct's member; undefined if there is no such member. */
const memberType = (struct: Struct, name: string): Type | undefined =>
  struct.field.get(name)?.type ?? (struct.typeMeta && ENVELOPE.has(name) ? STRING : struct.open ? ANY : undefined);

/** Enters a member: sets path and type of its value. Returns the problem with its name, if any. */
function enterMember(frame: Frame, key: string): 'unknown' | 'duplicate' | undefined {
  frame.next = frame.path ? `${frame.path}.${key}` : key;
  const { type, seen } = frame;
  if (!type || !seen) return undefined;
  frame.nextType = type.is === 'struct' ? memberType(type, key) : itemType(type);
  if (!frame.nextType) return 'unknown';
  if (seen.has(key)) return 'duplicate';
  seen.add(key);
  return undefined;
}

/**
 * Finds the strict decoding errors of a JSON text in document order: duplicate members and, in structs, unknown
 * members. `text` must be valid JSON that matches the type. Without a type only duplicate members are found.
 */
export function findStrictErrors(text: string, type: Type = ANY): string[] {
  const found = new StrictErrors();
  const frames: Frame[] = [];
  let top: Frame | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (expectKey && top) {
        const problem = enterMember(top, JSON.parse(text.slice(at, end + 1)) as string);
        if (problem && found.hasRoom) found.add(`${problem} field ${JSON.stringify(top.next)}`, true);
        expectKey = false;
      }
      at = end;
    } else if (char === '{' || char === '[') {
      top = top ? makeFrame(top.next, top.nextType, char === '{') : makeFrame('', type, char === '{');
      frames.push(top);
      expectKey = char === '{';
    } else if (char === '}' || char === ']') {
      frames.pop();
      top = frames.at(-1);
      expectKey = false;
    } else if (char === ',' && top) {
      expectKey = top.isObject;
      if (!top.isObject) top.next = `${top.path}[${++top.index}]`;
    }
  }
  return found.texts;
}
