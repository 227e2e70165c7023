import { BODY_BYTES, DEPTH } from '../../limits.js';
import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Type } from '../model.js';
import { strictComplaints } from '../strict.js';
import { equalJson, isDeeper, isMembers, memberOf, type Members, setMember, sortMembers } from './members.js';

/** 422: the patch was understood but does not apply to this object. */
const rejected = (why: string): never => {
  throw new Refusal('Invalid', `the server rejected our request due to an error in our request: ${why}`, {});
};

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Json;
}

function operationOf(entry: Json): Operation {
  if (!isMembers(entry)) throw badRequest('error decoding patch: an operation must be a JSON object');
  const [op, path, from] = ['op', 'path', 'from'].map(name => memberOf(entry, name) ?? '');
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw badRequest('error decoding patch: op, path and from must be strings');
  return { op, path, from, value: memberOf(entry, 'value') ?? null };
}

/** Segments of a JSON pointer (RFC 6901). */
function segmentsOf(pointer: string): string[] {
  if (pointer === '') return [];
  if (pointer[0] !== '/') return rejected(`the path ${JSON.stringify(pointer)} must begin with a slash`);
  return pointer
    .slice(1)
    .split('/')
    .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Position named by a segment; `most` is the largest allowed. */
function indexOf(segment: string, most: number, pointer: string): number {
  const index = INDEX.test(segment) ? Number(segment) : -1;
  return index >= 0 && index <= most
    ? index
    : rejected(`doc is missing path: ${JSON.stringify(pointer)}: invalid array index`);
}

function child(container: Json, segment: string, pointer: string): Json {
  if (Array.isArray(container)) return container[indexOf(segment, container.length - 1, pointer)]!;
  const found = isMembers(container) ? memberOf(container, segment) : undefined;
  return found === undefined ? rejected(`doc is missing path: ${JSON.stringify(pointer)}: missing value`) : found;
}

const at = (document: Json, segments: readonly string[], pointer: string): Json =>
  segments.reduce((value: Json, segment) => child(value, segment, pointer), document);

/** Applies operations to a document that it owns. */
class Editor {
  #copied = 0;

  constructor(public document: Json) {}

  apply(operation: Operation): void {
    const { op, path, from, value } = operation;
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
        this.#move(from, path);
        break;
      default:
        rejected(`Unexpected kind: ${op}`);
    }
  }

  #parent(path: string): { container: Json; last: string } {
    const segments = segmentsOf(path);
    const last = segments.pop()!;
    return { container: at(this.document, segments, path), last };
  }

  #add(path: string, value: Json): void {
    if (path === '') {
      this.document = value;
      return;
    }
    const { container, last } = this.#parent(path);
    if (Array.isArray(container))
      container.splice(last === '-' ? container.length : indexOf(last, container.length, path), 0, value);
    else if (isMembers(container)) setMember(container, last, value);
    else rejected(`doc is missing path: ${JSON.stringify(path)}: missing value`);
  }

  #replace(path: string, value: Json): void {
    if (path === '') {
      this.document = value;
      return;
    }
    const { container, last } = this.#parent(path);
    child(container, last, path);
    if (Array.isArray(container)) container[indexOf(last, container.length - 1, path)] = value;
    else if (isMembers(container)) setMember(container, last, value);
  }

  #remove(path: string): Json {
    if (path === '') return rejected('the whole object cannot be removed');
    const { container, last } = this.#parent(path);
    const removed = child(container, last, path);
    if (Array.isArray(container)) container.splice(indexOf(last, container.length - 1, path), 1);
    else if (isMembers(container)) delete container[last];
    return removed;
  }

  #move(from: string, path: string): void {
    if (path.startsWith(`${from}/`)) rejected(`${JSON.stringify(from)} cannot be moved into itself`);
    this.#add(path, this.#remove(from));
  }

  /** Missing members equal null, as upstream has it. */
  #test(path: string, value: Json): void {
    const segments = segmentsOf(path);
    const last = segments.pop();
    const container = at(this.document, segments, path);
    const found =
      last === undefined
        ? container
        : isMembers(container)
          ? (memberOf(container, last) ?? null)
          : child(container, last, path);
    if (!equalJson(found, value)) rejected(`testing value ${path} failed: test failed`);
  }

  /** Copies of copies grow exponentially; the sum is bounded by what a body may have. */
  #copy(from: string): Json {
    const value = at(this.document, segmentsOf(from), from);
    const text = JSON.stringify(value);
    this.#copied += text.length;
    if (this.#copied > BODY_BYTES)
      throw new Refusal(
        'RequestEntityTooLarge',
        `Request entity too large: Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${BODY_BYTES}`,
      );
    return JSON.parse(text) as Json;
  }
}

/**
 * Brings the members of the objects on the way of a pointer into the order of their names: complaints about them come
 * in that order.
 */
function sortAlong(document: Json, pointer: string, sorted: Set<Members>): void {
  let here: Json | undefined = document;
  for (const segment of segmentsOf(pointer)) {
    if (isMembers(here)) {
      if (!sorted.has(here)) sortMembers(here);
      sorted.add(here);
      here = memberOf(here, segment);
    } else here = Array.isArray(here) ? here[Number(segment)] : undefined;
  }
}

/**
 * JSON Patch (RFC 6902). All operations apply or none; the arguments stay as they are. Throws 400 for what is no patch
 * and for a result that nests too deeply, 413 for more than `most` operations, 422 for one that does not apply.
 */
export function applyJsonPatch(target: Json, patch: Json, most: number): Json {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch must be a list of operations');
  if (patch.length > most)
    throw new Refusal(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${most}, got ${patch.length}`,
    );
  const operations = patch.map(operationOf);
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

/**
 * Complaints about members that an operation does not have or has twice: `json patch unknown field "[0].why"`. `text`
 * is the body.
 */
export const jsonPatchComplaints = (text: string): string[] =>
  strictComplaints(text, OPERATIONS).map(complaint => `json patch ${complaint}`);
