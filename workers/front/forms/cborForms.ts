import { cborDocument, cborEvent } from '../../../core/schema/cbor/cbor.js';
import { cborList, cborObjects, encodeCborRecords } from '../../../core/schema/cbor/cborEncode.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import type { EncodedForm } from './encodedReads.js';
import { assembledList } from './assembledList.js';
import type { Asked, MadeObject, MediaForm } from './form.js';
import { needsConversion } from './storedList.js';

/**
 * The form of objects in CBOR that is made of encodings; undefined for all others: objects of custom kinds, other
 * versions and metadata are encoded by the pool each time.
 */
function cborForm({ choice, request, resource }: Asked): EncodedForm | undefined {
  if (choice.form !== 'object' || request.route.subresource) return undefined;
  if (!resource.builtIn || needsConversion(resource)) return undefined;
  return {
    records: 'cbor',
    key: 'cbor',
    contentType: choice.contentType,
    encode: texts => encodeCborRecords(resource, texts),
    toMessage: cborObjects(resource),
    toEvent: cborEvent,
  };
}

const body = (object: MadeObject): Uint8Array => cborDocument(Buffer.from(writeJson(object)));

/** CBOR. */
export const CBOR: MediaForm = {
  object: cborForm,
  list(asked, entries, { encodings }) {
    const form = cborForm(asked);
    if (!form || entries.length === 0) return undefined;
    return assembledList({
      frame: list => cborList(asked.resource, list),
      between: 0,
      items: (request, some) => encodings.find(request, some, form),
      makeAhead: (request, some) => encodings.makeAhead(request, some, form),
    });
  },
  body,
  event: (type, object) => cborEvent(type, body(object)),
};
