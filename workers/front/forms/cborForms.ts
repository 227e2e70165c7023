import type { Choice } from '../../../core/request/negotiate.js';
import type { Route } from '../../../core/request/route.js';
import { cborEvent } from '../../../core/schema/cbor/cbor.js';
import { cborList, cborObjects, encodeCborRecords } from '../../../core/schema/cbor/cborEncode.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { EncodedForm } from './encodedReads.js';
import { needsConversion } from './listFrame.js';
import type { MadeListForm } from './assembledList.js';
import type { Records } from './sharedEncodings.js';

/**
 * The form of an answer in CBOR that is made of encodings; undefined for any other. Objects of custom kinds, other
 * versions and metadata are encoded by the pool each time.
 */
export function cborForm(choice: Choice, { subresource }: Route, resource: Resource): EncodedForm | undefined {
  if (choice.media !== 'cbor' || choice.form !== 'object' || subresource) return undefined;
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

/** The form of a list in CBOR, by the form of its objects. */
export const cborListForm = (form: EncodedForm, resource: Resource, records: Records): MadeListForm => ({
  frame: list => cborList(resource, list),
  between: 0,
  items: (request, entries) => records.find(request, entries, form),
  makeAhead: (request, entries) => records.makeAhead(request, entries, form),
});
