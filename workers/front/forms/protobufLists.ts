import { LIST_SLICE_BYTES, RENDER_AHEAD } from '../../../core/limits.js';
import type { Naming } from '../../../core/naming.js';
import type { Choice } from '../../../core/request/negotiate.js';
import type { Route } from '../../../core/request/route.js';
import { recordLength, unpackRecords } from '../../../core/schema/packedEncodings.js';
import { encodeEnvelope } from '../../../core/schema/protobuf/protobuf.js';
import {
  encodeRecords,
  listEnvelope,
  messageIn,
  type MessageForm,
  recordType,
} from '../../../core/schema/protobuf/protobufList.js';
import { watchFrame } from '../../../core/schema/protobuf/protobufWatch.js';
import type { Resource } from '../../../core/schema/resource.js';
import { typeOf } from '../../../core/schema/table/types.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { Rendering } from '../../../core/threads/messages/messages.js';
import { compresses, streamParts } from '../answers/compress.js';
import type { EncodedForm } from './encodedReads.js';
import type { Encodings } from './encodingCache.js';
import { inOrder } from '../answers/inOrder.js';
import { needsConversion } from './listFrame.js';
import type { Packed, RecordForm, Records } from './sharedEncodings.js';
import { renderSlices } from './renderedList.js';
import type { Headers } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/** How objects are shown in protobuf: in an envelope with kind and apiVersion, which lists have as well. */
export interface ProtobufForm extends EncodedForm {
  readonly records: MessageForm;
  readonly listKind: string;
  readonly apiVersion: string;
}

/** The form of an answer that is made of encodings; undefined for any other. `list`: of a list. */
export function protobufForm(
  choice: Choice,
  { subresource }: Route,
  resource: Resource,
  naming: Naming,
  list: boolean,
): ProtobufForm | undefined {
  if (choice.media !== 'protobuf' || subresource) return undefined;
  const { kind, listKind, apiVersion } = resource;
  const { contentType } = choice;
  const encoder = (form: MessageForm): RecordForm['encode'] => {
    if (needsConversion(resource)) return undefined;
    const type = recordType(resource, form);
    return (texts, isPacked) => encodeRecords(type, texts, isPacked);
  };
  if (choice.form === 'object') {
    const encode = encoder('object');
    return {
      records: 'object',
      key: apiVersion,
      listKind,
      apiVersion,
      contentType,
      encode,
      packed: PACKED,
      ...framed(apiVersion, kind),
    };
  }
  if (choice.form !== (list ? 'partialList' : 'partial')) return undefined;
  const group = `${naming.group('meta.orchestrator.io')}/${choice.version}`;
  return {
    records: 'partial',
    // The metadata of custom objects may differ between versions.
    key: resource.builtIn ? 'partial' : `partial ${apiVersion}`,
    listKind: 'PartialObjectMetadataList',
    apiVersion: group,
    contentType,
    encode: encoder('partial'),
    packed: PACKED,
    ...framed(group, 'PartialObjectMetadata'),
  };
}

const PACKED: Packed = { lengthOf: recordLength, unpack: unpackRecords };

const framed = (apiVersion: string, kind: string): Pick<EncodedForm, 'toMessage' | 'toEvent'> => ({
  toMessage: record => encodeEnvelope(apiVersion, kind, messageIn(record)),
  toEvent: watchFrame,
});

/** Answers with lists in protobuf, made of the encodings of their objects. */
export class ProtobufLists {
  readonly encodings: Encodings;

  constructor(readonly records: Records) {
    this.encodings = records.encodings;
  }

  /**
   * Answers with a list. Its length comes before its items, so that all of them are encoded before the first is sent;
   * those whose bytes could not be kept are encoded again.
   */
  async respond(
    request: FrontRequest,
    resource: Resource,
    entries: readonly Entry[],
    metadata: NonNullable<Rendering['list']>,
    form: ProtobufForm,
    headers: Headers,
  ): Promise<void> {
    const { exchange } = request;
    const length = await this.#measure(request, entries, form);
    if (length === undefined) return;
    const listType = form.records === 'object' ? resource.listType! : typeOf('meta.v1.PartialObjectMetadataList');
    const list = { kind: form.listKind, apiVersion: form.apiVersion, metadata };
    const { head, tail } = listEnvelope(listType, list, length);
    const total = head.length + length + tail.length;
    const found = total <= LIST_SLICE_BYTES ? this.records.known(entries, form) : undefined;
    const isCompressed = compresses(exchange, total);
    if (found && !isCompressed) return exchange.respond(200, headers, [head, ...found, tail]);
    await streamParts(
      exchange,
      headers,
      this.#parts(request, entries, form, { head, length, tail }),
      isCompressed,
      total,
    );
  }

  /** The bytes of all records together; undefined if the client goes away meanwhile. */
  async #measure(request: FrontRequest, entries: readonly Entry[], form: ProtobufForm): Promise<number | undefined> {
    await this.records.measure(request, entries, form);
    if (request.exchange.aborted) return undefined;
    return entries.reduce((sum, entry) => sum + this.encodings.lengthOf(entry, form.key)!, 0);
  }

  async *#parts(
    request: FrontRequest,
    entries: readonly Entry[],
    form: ProtobufForm,
    { head, length, tail }: { head: Uint8Array; length: number; tail: Uint8Array },
  ): AsyncGenerator<Uint8Array> {
    yield head;
    let sent = 0;
    const slices = inOrder(renderSlices(entries), RENDER_AHEAD, slice => this.records.find(request, slice, form));
    for await (const records of slices)
      for (const record of records) {
        sent += record.length;
        yield record;
      }
    if (sent !== length) throw new Error(`the records of a list have ${sent} bytes instead of ${length}`);
    yield tail;
  }
}
