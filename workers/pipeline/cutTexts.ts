import type { ApiObject } from '../../core/model/object.js';
import type { Naming } from '../../core/naming.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { encodeJson } from '../../core/schema/json.js';
import { objectEnd } from '../../core/schema/jsonTape.js';
import type { Resource } from '../../core/schema/resource.js';
import { type MetaVersion, partialObjectMetadata, rowWithoutObject, type TableInput } from '../../core/tables/index.js';

/*
 * Parts of lists in JSON that show the metadata of objects: it is cut out of the texts of stored objects, and not
 * parsed. This is possible for kinds whose objects are shown as they are stored.
 */

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const CLOSE_TWICE = Buffer.from('}}');

/** Where the metadata is in the text of an object. */
interface Span {
  readonly text: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The part of an object's text from its start up to its metadata, which is empty. */
const upToMetadata = (object: object): Buffer => Buffer.from(JSON.stringify(object).replace(/\{\}\}$/, ''));

/** What is before the metadata of an item. */
const itemHead = (version: MetaVersion, naming: Naming): Buffer =>
  upToMetadata(partialObjectMetadata({ metadata: {} } as ApiObject, version, naming));

/** Where the metadata of stored objects is; undefined if they may be shown otherwise than they are stored. */
function findMetadata(resource: Resource, texts: readonly Uint8Array[]): Span[] | undefined {
  if (!resource.builtIn || resource.apiVersion !== resource.storageApiVersion) return undefined;
  const { kind, apiVersion } = resource;
  const head = upToMetadata({ kind, apiVersion, metadata: {} });
  const start = head.length;
  if (!texts.every(text => head.compare(text, 0, start) === 0)) return undefined;
  return texts.map(text => ({ text, start, end: objectEnd(text, start) }));
}

/** The text of the items of a metadata list; undefined where they have to be made of objects. */
export function metadataItems(
  resource: Resource,
  texts: readonly Uint8Array[],
  version: MetaVersion,
  naming: Naming,
): Buffer | undefined {
  const head = itemHead(version, naming);
  const spans = findMetadata(resource, texts);
  return spans && join(spans.map(({ text, start, end }) => [head, text.subarray(start, end), CLOSE]));
}

/**
 * The text of the rows of a Table that show metadata; undefined where they have to be made of objects. Cells are
 * computed from objects without managed fields, which are a third of an object and in no cell.
 */
export function metadataRows(
  resource: Resource,
  texts: readonly Uint8Array[],
  input: Omit<TableInput, 'objects'>,
): Buffer | undefined {
  if (input.includeObject !== 'Metadata') return undefined;
  const head = itemHead(input.tableVersion, input.naming);
  const spans = findMetadata(resource, texts);
  return (
    spans &&
    join(
      spans.map(span => {
        const row = encodeJson(rowWithoutObject(decodeStored(withoutManagedFields(span)), input));
        const { text, start, end } = span;
        return [Buffer.from(`${row.slice(0, -1)},"object":`), head, text.subarray(start, end), CLOSE_TWICE];
      }),
    )
  );
}

/** Items as they are in an array. */
const join = (items: readonly (readonly Uint8Array[])[]): Buffer =>
  Buffer.concat(items.flatMap((pieces, i) => (i === 0 ? pieces : [COMMA, ...pieces])));

/** A quote in a string is escaped: this can only be the member of the metadata, behind another one. */
const MANAGED_FIELDS = Buffer.from(',"managedFields":[{');

/** The text of an object without managed fields, which are the last member of metadata. */
function withoutManagedFields({ text, start, end }: Span): Uint8Array {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  const at = bytes.indexOf(MANAGED_FIELDS, start);
  if (at < 0 || at >= end) return text;
  const array = at + MANAGED_FIELDS.length - 2;
  return arrayEnd(text, array) === end - 1 ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(end - 1)]) : text;
}

/** The end of an array of objects that begins at `start`. */
function arrayEnd(text: Uint8Array, start: number): number {
  let at = start;
  do at = objectEnd(text, at + 1);
  while (text[at] === COMMA[0]);
  return at + 1;
}
