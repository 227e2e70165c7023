import { BODY_BYTES, DEPTH } from '../../limits.js';
import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Type } from '../model.js';
import { findStrictErrors } from '../strict.js';
import { equalJson, isDeeper, isMembers, memberOf, type Members, setMember, sortMembers } from './members.js';

/** Throws 422: the patch is valid but cannot be applied to the object. */
const reject = (why: string): never => {
  throw new Refusal('Invalid', `the server rejected our request due to an error in our request: ${why}`, {});
};

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Json;
}

function parseOperation(entry: Json): Operation {
  if (!isMembers(entry)) throw badRequest('error decoding patch: an operation must be a JSON object');
  const [op, path, from] = ['op', 'path', 'from'].map(name => memberOf(entry, name) ?? '');
  if (typeof op !== 'string' || typeof path !== 'string' || typeof from !== 'string')
    throw badRequest('error decoding patch: op, path and from must be strings');
  return { op, path, from, value: memberOf(entry, 'value') ?? null };
}

/** The segments of a JSON pointer (RFC 6901). */
function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (pointer[0] !== '/') return reject(`the path ${JSON.stringify(pointer)} must begin with a slash`);
  return pointer
    .slice(1)
    .split('/')
    .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** The array index in a segment. Throws 422 if it is malformed or above `max`. */
function indexOf(segment: string, max: number, pointer: string): number {
  const index = INDEX.test(segment) ? Number(segment) : -1;
  return index >= 0 && index <= max
    ? index
    : reject(`doc is missing path: ${JSON.stringify(pointer)}: invalid array index`);
}

function getChild(container: Json, segment: string, pointer: string): Json {
  if (Array.isArray(container)) return container[indexOf(segment, container.length - 1, pointer)]!;
  const found = isMembers(container) ? memberOf(container, segment) : undefined;
  return found === undefined ? reject(`doc is missing path: ${JSON.stringify(pointer)}: missing value`) : found;
}

const resolve = (document: Json, segments: readonly string[], pointer: string): Json =>
  segments.reduce((value: Json, segment) => getChild(value, segment, pointer), document);

/** Applies operations to a document in place. */
class PatchEditor {
  #copiedLength = 0;

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
        reject(`Unexpected kind: ${op}`);
    }
  }

  #parent(path: string): { container: Json; last: string } {
    const segments = parsePointer(path);
    const last = segments.pop()!;
    return { container: resolve(this.document, segments, path), last };
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
    else reject(`doc is missing path: ${JSON.stringify(path)}: missing value`);
  }

  #replace(path: string, value: Json): void {
    if (path === '') {
      this.document = value;
      return;
    }
    const { container, last } = this.#parent(path);
    getChild(container, last, path);
    if (Array.isArray(container)) container[indexOf(last, container.length - 1, path)] = value;
    else if (isMembers(container)) setMember(container, last, value);
  }

  #remove(path: string): Json {
    if (path === '') return reject('the whole object cannot be removed');
    const { container, last } = this.#parent(path);
    const removed = getChild(container, last, path);
    if (Array.isArray(container)) container.splice(indexOf(last, container.length - 1, path), 1);
    else if (isMembers(container)) delete container[last];
    return removed;
  }

  #move(from: string, path: string): void {
    if (path.startsWith(`${from}/`)) reject(`${JSON.stringify(from)} cannot be moved into itself`);
    this.#add(path, this.#remove(from));
  }

  /** A missing member equals null, as upstream. */
  #test(path: string, value: Json): void {
    const segments = parsePointer(path);
    const last = segments.pop();
    const container = resolve(this.document, segments, path);
    const found =
      last === undefined
        ? container
        : isMembers(container)
          ? (memberOf(container, last) ?? null)
          : getChild(container, last, path);
    if (!equalJson(found, value)) reject(`testing value ${path} failed: test failed`);
  }

  /** The total size of copies is limited to that of a request body, because copies of copies grow exponentially. */
  #copy(from: string): Json {
    const value = resolve(this.document, parsePointer(from), from);
    const text = JSON.stringify(value);
    this.#copiedLength += text.length;
    if (this.#copiedLength > BODY_BYTES)
      throw new Refusal(
        'RequestEntityTooLarge',
        'Request entity too large: Unable to complete the copy, the accumulated size increase of copy is ' +
          `${this.#copiedLength}, exceeding the limit ${BODY_BYTES}`,
      );
    return JSON.parse(text) as Json;
  }
}

/** Sorts the members of the objects along a pointer, because schema errors are reported in the order of members. */
function sortMembersAlong(document: Json, pointer: string, sorted: Set<Members>): void {
  let value: Json | undefined = document;
  for (const segment of parsePointer(pointer)) {
    if (isMembers(value)) {
      if (!sorted.has(value)) sortMembers(value);
      sorted.add(value);
      value = memberOf(value, segment);
    } else value = Array.isArray(value) ? value[Number(segment)] : undefined;
  }
}

/**
 * Applies a JSON Patch (RFC 6902) without changing its arguments. Throws 400 for a malformed patch or a result that is
 * nested too deeply, 413 for more than `max` operations, and 422 if an operation cannot be applied.
 */
export function applyJsonPatch(target: Json, patch: Json, max: number): Json {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch must be a list of operations');
  if (patch.length > max)
    throw new Refusal(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${max}, got ${patch.length}`,
    );
  const operations = patch.map(parseOperation);
  const editor = new PatchEditor(structuredClone(target));
  for (const operation of operations) editor.apply(operation);
  // Each move may increase the depth.
  if (isDeeper(editor.document, DEPTH)) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  const sorted = new Set<Members>();
  for (const { op, path, from } of operations) {
    sortMembersAlong(editor.document, path, sorted);
    if (op === 'move' || op === 'copy') sortMembersAlong(editor.document, from, sorted);
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
 * Errors about unknown and duplicate members of operations: `json patch unknown field "[0].why"`. `text` is the body.
 */
export const jsonPatchErrors = (text: string): string[] =>
  findStrictErrors(text, OPERATIONS).map(complaint => `json patch ${complaint}`);
