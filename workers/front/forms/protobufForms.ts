import type { Json } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { recordLength, unpackRecords } from '../../../core/schema/packedEncodings.js';
import { encodeCommon, encodeEnvelope, encodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import {
  encodeRecords,
  listEnvelope,
  messageIn,
  type MessageForm,
  recordType,
} from '../../../core/schema/protobuf/protobufList.js';
import { watchFrame } from '../../../core/schema/protobuf/protobufWatch.js';
import { typeOf } from '../../../core/schema/table/types.js';
import { assembledList } from './assembledList.js';
import type { EncodedForm } from './encodedReads.js';
import type { Asked, MediaForm } from './form.js';
import type { EncodingForm, Packed } from './sharedEncodings.js';
import { needsConversion } from './storedList.js';

/** How objects are shown in protobuf: in an envelope with kind and apiVersion, which lists have as well. */
interface ProtobufForm extends EncodedForm {
  readonly records: MessageForm;
  readonly listKind: string;
  readonly apiVersion: string;
}

/** The form of an answer that is made of encodings; undefined for any other. `list`: of a list. */
function protobufForm({ choice, request, resource }: Asked, naming: Naming, list: boolean): ProtobufForm | undefined {
  if (request.route.subresource) return undefined;
  const { kind, listKind, apiVersion } = resource;
  const { contentType } = choice;
  const encoder = (form: MessageForm): EncodingForm['encode'] => {
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
  // A conversion may change the metadata, or fail: the pool encodes them each time.
  if (!resource.builtIn && (needsConversion(resource) || resource.changedAt !== undefined)) return undefined;
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

const body: MediaForm['body'] = (object, type) =>
  type
    ? encodeEnvelope(object.apiVersion, object.kind, encodeMessage(type, object as unknown as Json))
    : encodeCommon(object)!;

/**
 * Protobuf. The length of a list comes before its items, so all of them are encoded before the first is sent; those
 * whose bytes could not be kept are encoded again.
 */
export const PROTOBUF: MediaForm = {
  object: (asked, naming) => protobufForm(asked, naming, false),
  list(asked, _entries, { naming, encodings }) {
    const form = protobufForm(asked, naming, true);
    if (!form) return undefined;
    const { records, listKind: kind, apiVersion } = form;
    const type = records === 'object' ? asked.resource.listType! : typeOf('meta.v1.PartialObjectMetadataList');
    return assembledList({
      measure: (request, entries) => encodings.measure(request, entries, form),
      frame(metadata, length) {
        const list = { kind, apiVersion, metadata };
        return listEnvelope(type, list, length);
      },
      between: 0,
      items: (request, entries) => encodings.find(request, entries, form),
    });
  },
  body,
  event: (type, object, objectType) => watchFrame(type, body(object, objectType)),
};
