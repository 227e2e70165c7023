import type { MediaName } from '../../../core/request/negotiate.js';
import { CBOR } from './cborForms.js';
import type { AnsweredList, Asked, FormParts, ListForm, MediaForm } from './form.js';
import { JSON_FORM } from './jsonForms.js';
import { PROTOBUF } from './protobufForms.js';
import { renderedList } from './renderedList.js';

/** The forms that the front end renders, by media type. The pool renders all others. */
export const MEDIA: Readonly<Record<MediaName, MediaForm>> = {
  json: JSON_FORM,
  // YAML has no stream of events, and all its texts are made by the pool.
  yaml: { ...JSON_FORM, list: () => undefined },
  protobuf: PROTOBUF,
  cbor: CBOR,
};

/** The form of the answer to a list of these entries. Throws 400 for a Table with an unknown `includeObject`. */
export function listForm(asked: Asked, entries: AnsweredList['entries'], parts: FormParts): ListForm {
  const { choice, resource } = asked;
  const isSorted = choice.form === 'table' && resource.strategy.compareRows !== undefined;
  return MEDIA[choice.media].list(asked, entries, parts) ?? renderedList(parts.pool, isSorted);
}
