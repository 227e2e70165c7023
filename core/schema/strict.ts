import { StrictErrors } from './strictErrors.js';
import type { Struct, Type } from './model.js';

/** A value of any shape: members given twice are told, no member is unknown. */
const ANY: Type = { is: 'scalar', name: 'any' };

/** A container that is being read. */
interface Frame {
  /** Path of the container itself. */
  readonly path: string;
  readonly isObject: boolean;
  /** Members so far, of an object that is looked into. */
  readonly seen: Set<string> | undefined;
  /** Type of the container; undefined where nothing is looked into: values that types read by themselves. */
  readonly type: Type | undefined;
  index: number;
  /** Path and type of the value that comes next. */
  next: string;
  nextType: Type | undefined;
}

/** What the type says about a container of its own shape; types with shapes of their own are not looked into. */
function looked(type: Type | undefined): Type | undefined {
  if (!type) return undefined;
  if (type.is === 'scalar') return type.name === 'any' ? type : undefined;
  return type.is === 'struct' && type.alternatives ? undefined : type;
}

const itemType = (type: Type | undefined): Type | undefined =>
  type?.is === 'list' || type?.is === 'map' ? type.of : type?.is === 'scalar' ? type : undefined;

function frameOf(path: string, type: Type | undefined, isObject: boolean): Frame {
  const inner = looked(type);
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

/** End of the string that starts at `start` (a quote): position of its closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

const ENVELOPE: ReadonlySet<string> = new Set(['kind', 'apiVersion']);
const TEXT: Type = { is: 'scalar', name: 'string' };

/** Type of a struct's member; undefined if it has none of that name. */
const memberType = (struct: Struct, name: string): Type | undefined =>
  struct.field.get(name)?.type ?? (struct.typeMeta && ENVELOPE.has(name) ? TEXT : struct.open ? ANY : undefined);

/** Notes a member: what is wrong with it, told later because its path may be long, and the type of its value. */
function enter(frame: Frame, key: string): 'unknown' | 'duplicate' | undefined {
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
 * What a strict decoder of the type complains about, in document order: members that occur twice and, below structs,
 * members that the type does not have. `text` must be valid JSON of the type's shape. Without a type only repeated
 * members count.
 */
export function strictComplaints(text: string, type: Type = ANY): string[] {
  const found = new StrictErrors();
  const frames: Frame[] = [];
  let top: Frame | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (expectKey && top) {
        const wrong = enter(top, JSON.parse(text.slice(at, end + 1)) as string);
        if (wrong && found.hasRoom) found.add(`${wrong} field ${JSON.stringify(top.next)}`, true);
        expectKey = false;
      }
      at = end;
    } else if (char === '{' || char === '[') {
      top = top ? frameOf(top.next, top.nextType, char === '{') : frameOf('', type, char === '{');
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
