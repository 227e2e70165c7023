import { BODY_BYTES, DEPTH } from '../../limits.js';
import { readJson, writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { badRequest, Refusal } from '../../model/refusal.js';
import type { Field, Type } from '../model.js';
import { findStrictErrors } from '../decode/strict.js';
import { operationMismatch, patchMismatch, valueMismatch } from './mismatch.js';
import { equalJson, isDeeper, isMembers, memberOf, type Members, setMember, sortMembers } from './members.js';

/** 422: the patch is valid but cannot be applied to the object. As in upstream, the message does not say why. */
export class UnappliedPatch extends Refusal {
  constructor(
    /** Describes the operation that cannot be applied, in upstream's words. */
    readonly why: string,
    /** Whether a test operation has found a different value. */
    readonly isFailedTest = false,
  ) {
    super('Invalid', 'the server rejected our request due to an error in our request', {});
  }
}

/** Thrown if an operation does not find the container of a path, a member or item in it, or the value of a test. */
class Missing extends Error {
  constructor(readonly what: 'path' | 'key' | 'index' | 'value') {
    super(what);
  }
}

const reject = (what: Missing['what'] = 'path'): never => {
  throw new Missing(what);
};

interface Operation {
  readonly op: string;
  /** Undefined if the operation has none. */
  readonly path: string | undefined;
  readonly from: string;
  readonly value: Json;
}

/** The refusal of a value that is not a patch, or not an operation. */
const notA = (what: 'patch' | 'operation', value: Json, isChecked: boolean): Refusal =>
  badRequest(
    isChecked
      ? patchMismatch(value, what === 'patch' ? '[]handlers.jsonPatchOp' : 'handlers.jsonPatchOp')
      : valueMismatch(value, what === 'patch' ? 'jsonpatch.Patch' : 'jsonpatch.Operation'),
  );

function parseOperation(entry: Json, isChecked: boolean): Operation {
  const members = entry ?? {};
  if (!isMembers(members)) throw notA('operation', members, isChecked);
  const text = (name: string): string | undefined => {
    const value = memberOf(members, name) ?? '';
    if (typeof value === 'string') return value;
    if (isChecked) throw badRequest(operationMismatch(value, name));
    return undefined;
  };
  const path = memberOf(members, 'path') === undefined ? undefined : text('path');
  return { op: text('op') ?? '', path, from: text('from') ?? '', value: memberOf(members, 'value') ?? null };
}

/** The segments of a JSON pointer (RFC 6901). */
function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (pointer[0] !== '/') return reject();
  return pointer
    .slice(1)
    .split('/')
    .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** The array index in a segment. Throws 422 if it is malformed or above `max`. */
function indexOf(segment: string, max: number): number {
  const index = INDEX.test(segment) ? Number(segment) : -1;
  return index >= 0 && index <= max ? index : reject('index');
}

function getChild(container: Json, segment: string, what?: Missing['what']): Json {
  if (Array.isArray(container)) return container[indexOf(segment, container.length - 1)]!;
  const found = isMembers(container) ? memberOf(container, segment) : undefined;
  return found === undefined ? reject(what) : found;
}

const resolve = (document: Json, segments: readonly string[]): Json =>
  segments.reduce((container, segment) => getChild(container, segment), document);

const OPERATION_NAMES = new Set(['add', 'copy', 'move', 'remove', 'replace', 'test']);

/** The reason why an operation cannot be applied, in upstream's words. */
function describeMissing({ op, from }: Operation, path: string, what: Missing['what']): string {
  const removed = op === 'move' ? from : path;
  const last = removed.slice(removed.lastIndexOf('/') + 1);
  // In upstream's message, the path of a move is the name of the moved value.
  const shown = op === 'move' ? last : path;
  switch (what) {
    case 'value':
      return `testing value ${path} failed: test failed`;
    case 'key':
      return `error in ${op} for path: '${shown}': Unable to remove nonexistent key: ${last}: missing value`;
    case 'index':
      return `error in ${op} for path: '${shown}': Unable to access invalid index: ${last}: invalid index referenced`;
    case 'path':
      if (op === 'copy' || op === 'move')
        return `${op} operation does not apply: doc is missing from path: ${from}: missing value`;
      if (op === 'test') return `test operation does not apply: is missing path: ${path}: missing value`;
      return `${op} operation does not apply: doc is missing path: ${op === 'replace' ? path : JSON.stringify(path)}: missing value`;
  }
}

/** Applies operations to a document in place. */
class PatchEditor {
  #copiedLength = 0;

  constructor(public document: Json) {}

  apply(operation: Operation): void {
    const { op, path } = operation;
    if (!OPERATION_NAMES.has(op)) throw new UnappliedPatch(`Unexpected kind: ${op || 'unknown'}`);
    if (path === undefined) throw new UnappliedPatch(`${op} operation failed to decode path: missing value`);
    try {
      this.#apply(operation, path);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      throw new UnappliedPatch(describeMissing(operation, path, error.what), error.what === 'value');
    }
  }

  #apply({ op, from, value }: Operation, path: string): void {
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
    }
  }

  /** The container of the last segment of a path, which must have one. */
  #parent(path: string): { container: Json; last: string } {
    const segments = parsePointer(path);
    const last = segments.pop() ?? reject();
    return { container: resolve(this.document, segments), last };
  }

  #add(path: string, value: Json): void {
    const { container, last } = this.#parent(path);
    if (Array.isArray(container))
      container.splice(last === '-' ? container.length : indexOf(last, container.length), 0, value);
    else if (isMembers(container)) setMember(container, last, value);
    else reject();
  }

  /** As in upstream, a missing member is added, and a document is replaced only by an object or a list. */
  #replace(path: string, value: Json): void {
    if (path === '') {
      if (typeof value === 'object' && value !== null) this.document = value;
      return;
    }
    const { container, last } = this.#parent(path);
    if (Array.isArray(container)) container[indexOf(last, container.length - 1)] = value;
    else if (isMembers(container)) setMember(container, last, value);
    else reject();
  }

  #remove(path: string): Json {
    const { container, last } = this.#parent(path);
    const removed = getChild(container, last, 'key');
    if (Array.isArray(container)) container.splice(indexOf(last, container.length - 1), 1);
    else if (isMembers(container)) delete container[last];
    return removed;
  }

  #move(from: string, path: string): void {
    if (path.startsWith(`${from}/`)) reject();
    this.#add(path, this.#remove(from));
  }

  /** The value at a path. As in upstream, a missing member counts as null. */
  #find(path: string): Json {
    const { container, last } = this.#parent(path);
    return isMembers(container) ? (memberOf(container, last) ?? null) : getChild(container, last);
  }

  #test(path: string, value: Json): void {
    if (!equalJson(path === '' ? this.document : this.#find(path), value)) reject('value');
  }

  /** The total size of copies is limited to that of a request body, because copies of copies grow exponentially. */
  #copy(from: string): Json {
    const value = this.#find(from);
    const text = writeJson(value);
    this.#copiedLength += text.length;
    if (this.#copiedLength > BODY_BYTES)
      throw new Refusal(
        'RequestEntityTooLarge',
        'Request entity too large: Unable to complete the copy, the accumulated size increase of copy is ' +
          `${this.#copiedLength}, exceeding the limit ${BODY_BYTES}`,
      );
    return readJson(text);
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
 * Applies a JSON Patch (RFC 6902) without changing its arguments; null is a patch without operations. Throws 400 for a
 * malformed patch or a result that is nested too deeply, 413 for more than `max` operations, and 422 if an operation
 * cannot be applied. `isChecked`: whether members of the wrong type are refused (400); otherwise an operation that has
 * one cannot be applied.
 */
export function applyJsonPatch(target: Json, given: Json, max: number, isChecked = true): Json {
  const patch = given ?? [];
  if (!Array.isArray(patch)) throw notA('patch', patch, isChecked);
  if (patch.length > max)
    throw new Refusal(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${max}, got ${patch.length}`,
    );
  const operations = patch.map(entry => parseOperation(entry, isChecked));
  const editor = new PatchEditor(structuredClone(target));
  for (const operation of operations) editor.apply(operation);
  // Each move may increase the depth.
  if (isDeeper(editor.document, DEPTH)) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  const sorted = new Set<Members>();
  for (const { op, path, from } of operations) {
    sortMembersAlong(editor.document, path!, sorted);
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
