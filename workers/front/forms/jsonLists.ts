import { after } from '../../../core/api/awaitable.js';
import type { Naming } from '../../../core/naming.js';
import type { Choice } from '../../../core/request/negotiate.js';
import { firstValue } from '../../../core/request/query.js';
import type { Route } from '../../../core/request/route.js';
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
import { needsConversion } from './listFrame.js';
import type { MadeListForm } from './assembledList.js';
import type { RecordForm, Records } from './sharedEncodings.js';
import { indented } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/*
 * Lists in JSON whose items are made of the texts of stored objects without parsing them: metadata is cut out, and the
 * cells of Tables are kept.
 */

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const NULL = Buffer.from('null');

/** The bytes of a list or Table around its items. */
function frameOf(empty: object): ReturnType<MadeListForm['frame']> {
  const { head, tail } = jsonFrame(empty);
  return { head: Buffer.from(head), tail: Buffer.from(tail) };
}

/** The inputs of lists, besides the request. */
export interface TextListParts {
  readonly naming: Naming;
  readonly records: Records;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The texts are made within one turn of the event loop, one after the other. */
const writer = new TextWriter();

/** Writes the object of an item: its text, which is at hand, in the form of the list. */
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

function metadataForm(resource: Resource, choice: Choice, { naming }: TextListParts): MadeListForm {
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

function objectWriter(route: Route, choice: Choice, resource: Resource, naming: Naming): WriteObject {
  const includeObject = parseIncludeObject(firstValue(route.query, 'includeObject'));
  if (includeObject === 'None') return () => writer.copy(NULL);
  return includeObject === 'Object' ? text => writer.copy(text) : metadataWriter(resource, choice, naming);
}

function tableForm(
  route: Route,
  choice: Choice,
  resource: Resource,
  { naming, records, now }: TextListParts,
): MadeListForm {
  const write = objectWriter(route, choice, resource, naming);
  const { columns = DEFAULT_COLUMNS } = resource.strategy;
  const form: RecordForm = { records: 'row', key: 'row', encode: texts => rowTexts(resource, texts) };
  const table = { columns, objects: [], includeObject: 'None', now: 0, withHeader: true } as const;
  const join = (entries: readonly Entry[], rows: readonly Uint8Array[]): Uint8Array => {
    let next = 0;
    writer.begin();
    const endRow = (): void => {
      write(entries[next++]!.value);
      writer.copy(CLOSE);
    };
    for (const piece of rows) showRows(piece, now(), writer, endRow);
    return writer.written();
  };
  return {
    between: COMMA.length,
    frame: listMetadata => frameOf(tableValue({ ...table, listMetadata, tableVersion: choice.version, naming })),
    items: (request, entries) => after(records.find(request, entries, form), rows => [join(entries, rows)]),
    makeAhead: (request, entries) => records.makeAhead(request, entries, form),
  };
}

/**
 * The form of a list that is made of stored texts; undefined for any other. Throws 400 for a Table with an unknown
 * `includeObject`.
 */
export function textListForm(
  choice: Choice,
  { exchange, route }: FrontRequest,
  resource: Resource,
  parts: TextListParts,
): MadeListForm | undefined {
  const isJson = choice.media === 'json' && !(choice.pretty ?? indented(exchange));
  if (!isJson || !resource.builtIn || needsConversion(resource)) return undefined;
  if (choice.form === 'table') return tableForm(route, choice, resource, parts);
  return choice.form === 'partialList' ? metadataForm(resource, choice, parts) : undefined;
}
