import { after } from '../../../core/api/awaitable.js';
import type { Naming } from '../../../core/naming.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import type { Choice } from '../../../core/request/negotiate.js';
import { firstValue } from '../../../core/request/query.js';
import { objectEnd } from '../../../core/schema/json/jsonTape.js';
import type { Resource } from '../../../core/schema/resource.js';
import { metadataStart } from '../../../core/schema/json/storedText.js';
import { TextWriter } from '../../../core/schema/json/textWriter.js';
import {
  DEFAULT_COLUMNS,
  parseIncludeObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  tableValue,
} from '../../../core/services/tables/index.js';
import { jsonFrame } from '../../../core/services/tables/frame.js';
import { rowTexts, showRows } from '../../../core/services/tables/rowText.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import { indented } from '../answers/reply.js';
import { assembledList } from './assembledList.js';
import type { Asked, FormParts, ItemForm, MediaForm } from './form.js';
import type { EncodingForm } from './sharedEncodings.js';
import { needsConversion, predates, storedList } from './storedList.js';

/*
 * Lists in JSON whose items are made of the texts of stored objects without parsing them: metadata is cut out, and the
 * cells of Tables are kept.
 */

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const NULL = Buffer.from('null');

/** The bytes of a list or Table around its items. */
function frameOf(empty: object): ReturnType<ItemForm['frame']> {
  const { head, tail } = jsonFrame(empty);
  return { head: Buffer.from(head), tail: Buffer.from(tail) };
}

/** Shared: each text is made within one turn of the event loop. */
const writer = new TextWriter();

/** Writes the object of an item in the form of the list. `text` is the stored object. */
type WriteObject = (text: Uint8Array) => void;

/** Writes the metadata of a stored object as a PartialObjectMetadata. */
function metadataWriter(resource: Resource, { version }: Choice, naming: Naming): WriteObject {
  const start = metadataStart(resource);
  const empty = JSON.stringify(partialObjectMetadata({ ...resource, metadata: {} }, version, naming));
  const head = Buffer.from(empty.slice(0, -'{}}'.length));
  return text => {
    writer.copy(head);
    writer.copy(text, start, objectEnd(text, start));
    writer.copy(CLOSE);
  };
}

function metadataForm({ resource, choice }: Asked, { naming }: FormParts): ItemForm {
  const write = metadataWriter(resource, choice, naming);
  return {
    between: COMMA.length,
    frame: list => frameOf({ ...partialObjectMetadataList([], list, choice.version, naming), items: [] }),
    items: (_request, entries) => {
      writer.begin();
      for (const entry of entries) {
        writer.copy(COMMA);
        write(entry.value);
      }
      return [writer.written()];
    },
  };
}

function objectWriter({ request, choice, resource }: Asked, naming: Naming): WriteObject {
  const includeObject = parseIncludeObject(firstValue(request.route.query, 'includeObject'));
  if (includeObject === 'None') return () => writer.copy(NULL);
  return includeObject === 'Object' ? text => writer.copy(text) : metadataWriter(resource, choice, naming);
}

function tableForm(asked: Asked, { naming, encodings, pool }: FormParts): ItemForm {
  const { choice, resource } = asked;
  const write = objectWriter(asked, naming);
  const { columns = DEFAULT_COLUMNS } = resource.strategy;
  const form: EncodingForm = { records: 'row', key: 'row', encode: texts => rowTexts(resource, texts) };
  const table = { columns, objects: [], includeObject: 'None', now: 0, withHeader: true } as const;
  const join = (entries: readonly Entry[], rows: readonly Uint8Array[]): Uint8Array => {
    let next = 0;
    writer.begin();
    const endRow = (): void => {
      write(entries[next++]!.value);
      writer.copy(CLOSE);
    };
    for (const piece of rows) showRows(piece, pool.now(), writer, endRow);
    return writer.written();
  };
  return {
    between: COMMA.length,
    frame: listMetadata => frameOf(tableValue({ ...table, listMetadata, tableVersion: choice.version, naming })),
    items: (request, entries) => after(encodings.find(request, entries, form), rows => [join(entries, rows)]),
    makeAhead: (request, entries) => encodings.makeAhead(request, entries, form),
  };
}

/** The form of list items that are cut out of stored texts; undefined for any other. Throws 400. */
function textForm(asked: Asked, parts: FormParts): ItemForm | undefined {
  const { choice, resource } = asked;
  // Rows that are sorted can only be made all together.
  if (choice.form === 'table') return resource.strategy.compareRows ? undefined : tableForm(asked, parts);
  return choice.form === 'partialList' ? metadataForm(asked, parts) : undefined;
}

const body = (object: object): Buffer => Buffer.from(`${writeJson(object)}\n`);

/** JSON, made of the texts of stored objects. */
export const JSON_FORM: MediaForm = {
  object: () => undefined,
  list(asked, entries, parts) {
    const { choice, resource, request } = asked;
    if ((choice.pretty ?? indented(request.exchange)) || needsConversion(resource)) return undefined;
    if (choice.form === 'object') return predates(resource, entries) ? undefined : storedList(resource);
    const form = resource.builtIn && entries.length > 0 ? textForm(asked, parts) : undefined;
    return form && assembledList(form);
  },
  body,
  event: (type, object) => body({ type, object }),
};
