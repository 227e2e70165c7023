import { BODY_BYTES, DEPTH } from '../../limits.js';
import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Type } from '../model.js';
import { strictComplaints } from '../strict.js';
import { equalJson, isDeeper, isMembers, memberOf, type Members, setMember, sortMembers } from './members.js';

/** 422: the patch was understood but does not apply to this object. Upstream tells nobody why. */
const rejected = (): never => {
  throw new Refusal('Invalid', 'the server rejected our request due to an error in our request', {});
};

/** One operation; what it leaves out is undefined. */
interface Operation {
  readonly op: string | undefined;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: Json;
}

function operationOf(entry: Json): Operation {
  const members = entry ?? {};
  if (!isMembers(members)) throw badRequest('error decoding patch: an operation must be a JSON object');
  const [op, path, from] = ['op', 'path', 'from'].map(name => textOf(memberOf(members, name)));
  return { op, path, from, value: memberOf(members, 'value') ?? null };
}

function textOf(given: Json | undefined): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string') throw badRequest('error decoding patch: op, path and from must be strings');
  return given;
}

/** Segments of a JSON pointer (RFC 6901); upstream reads over what stands before the first slash. Without a slash it leads nowhere. */
function segmentsOf(pointer: string | undefined): [string, ...string[]] {
  const [, ...segments] = (pointer ?? '').split('/').map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return segments.length > 0 ? (segments as [string, ...string[]]) : rejected();
}

const INDEX = /^[+-]?\d{1,10}$/;

/** Position named by a segment in a list with `places`; a negative one counts from the end, as upstream has it. */
function indexOf(segment: string, places: number): number {
  const index = INDEX.test(segment) ? Number(segment) : NaN;
  const from0 = index < 0 ? index + places : index;
  return from0 >= 0 && from0 < places ? from0 : rejected();
}

/** What a segment leads to; undefined for a member that is not there. */
function childOf(container: Json, segment: string): Json | undefined {
  if (Array.isArray(container)) return container[indexOf(segment, container.length)]!;
  return isMembers(container) ? memberOf(container, segment) : rejected();
}

/** Applies operations to a document that it owns. */
class Editor {
  #copied = 0;

  constructor(public document: Json) {}

  apply({ op, path, from, value }: Operation): void {
    switch (op) {
      case 'add':
        this.#add(path, structuredClone(value));
        break;
      case 'replace':
        this.#replace(path, structuredClone(value));
        break;
      case 'remove':
        this.#remove(path);
        break;
      case 'test':
        this.#test(path, value);
        break;
      case 'copy':
        this.#add(path, this.#copy(from));
        break;
      case 'move':
        this.#add(path, this.#remove(from));
        break;
      default:
        rejected();
    }
  }

  /** The object or list that a pointer's last segment is looked up in. */
  #parent(path: string | undefined): { container: Json; last: string } {
    const segments = segmentsOf(path);
    const last = segments.pop()!;
    const container = segments.reduce((value: Json, segment) => childOf(value, segment) ?? rejected(), this.document);
    return { container, last };
  }

  #add(path: string | undefined, value: Json): void {
    const { container, last } = this.#parent(path);
    if (Array.isArray(container))
      container.splice(last === '-' ? container.length : indexOf(last, container.length + 1), 0, value);
    else if (isMembers(container)) setMember(container, last, value);
    else rejected();
  }

  /** A member need not be there, as upstream has it. */
  #replace(path: string | undefined, value: Json): void {
    if (path === '') {
      this.document = typeof value === 'object' && value !== null ? value : rejected();
      return;
    }
    const { container, last } = this.#parent(path);
    if (Array.isArray(container)) container[indexOf(last, container.length)] = value;
    else if (isMembers(container)) setMember(container, last, value);
    else rejected();
  }

  #remove(path: string | undefined): Json {
    const { container, last } = this.#parent(path);
    const removed = childOf(container, last);
    if (removed === undefined) return rejected();
    if (Array.isArray(container)) container.splice(indexOf(last, container.length), 1);
    else if (isMembers(container)) delete container[last];
    return removed;
  }

  /** Missing members equal null, as upstream has it. */
  #test(path: string | undefined, value: Json): void {
    const found = path === '' ? this.document : this.#found(path);
    if (!equalJson(found, value)) rejected();
  }

  /** What a pointer leads to: null for a member that is not there. */
  #found(path: string | undefined): Json {
    const { container, last } = this.#parent(path);
    return childOf(container, last) ?? null;
  }

  /** Copies of copies grow exponentially; the sum is bounded by what a body may have. */
  #copy(from: string | undefined): Json {
    const text = JSON.stringify(this.#found(from));
    this.#copied += text.length;
    return this.#copied > BODY_BYTES ? rejected() : (JSON.parse(text) as Json);
  }
}

/** Brings the members of the objects on the way of a pointer into the order of their names: complaints about them come in that order. */
function sortAlong(document: Json, pointer: string | undefined, sorted: Set<Members>): void {
  let here: Json | undefined = document;
  for (const segment of pointer ? segmentsOf(pointer) : []) {
    if (isMembers(here)) {
      if (!sorted.has(here)) sortMembers(here);
      sorted.add(here);
      here = memberOf(here, segment);
    } else here = Array.isArray(here) ? here[Number(segment)] : undefined;
  }
}

/**
 * JSON Patch (RFC 6902). All operations apply or none; the arguments stay as they are. Throws 400 for what is no patch and for a result that nests
 * too deeply, 413 for more than `most` operations, 422 for one that does not apply.
 */
export function applyJsonPatch(target: Json, patch: Json, most: number): Json {
  const list = patch ?? [];
  if (!Array.isArray(list)) throw badRequest('error decoding patch: a JSON patch must be a list of operations');
  if (list.length > most)
    throw new Refusal(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${most}, got ${list.length}`,
    );
  const operations = list.map(operationOf);
  const editor = new Editor(structuredClone(target));
  for (const operation of operations) editor.apply(operation);
  // Moves put what is deep below what is deep, as often as there are operations.
  if (isDeeper(editor.document, DEPTH)) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  const sorted = new Set<Members>();
  for (const { op, path, from } of operations) {
    sortAlong(editor.document, path, sorted);
    if (op === 'move' || op === 'copy') sortAlong(editor.document, from, sorted);
  }
  return editor.document;
}

const OPERATION_FIELDS: readonly Field[] = (['op', 'path', 'from', 'value'] as const).map(name => ({
  name,
  type: { is: 'scalar', name: name === 'value' ? 'any' : 'string' },
  pointer: false,
  omitEmpty: true,
  required: false,
  merge: {},
  number: 0,
}));
const OPERATIONS: Type = {
  is: 'list',
  of: {
    is: 'struct',
    id: 'Operation',
    typeMeta: false,
    fields: OPERATION_FIELDS,
    field: new Map(OPERATION_FIELDS.map(field => [field.name, field])),
  },
};

/** Complaints about members that an operation does not have or has twice: `json patch unknown field "[0].why"`. `text` is the body. */
export const jsonPatchComplaints = (text: string): string[] =>
  strictComplaints(text, OPERATIONS).map(complaint => `json patch ${complaint}`);
