import { Refusal } from '../model/refusal.js';
import { parseGoBool } from '../model/text/goBool.js';
import { type Choice, type Form, type MediaName, negotiate, type Serving } from './negotiate.js';
import { cborDocument } from '../schema/cbor/cbor.js';
import { internalType } from '../schema/registry/goTypes.js';
import { encodeJson } from '../schema/json/json.js';
import { encodeCommon } from '../schema/protobuf/protobuf.js';
import type { Resource } from '../schema/resource.js';
import { encodeYaml } from '../schema/yaml/yamlText.js';
import { firstValue, parseQuery } from './query.js';

const MEDIA: readonly MediaName[] = ['json', 'yaml', 'protobuf'];
const MEDIA_WITH_CBOR: readonly MediaName[] = [...MEDIA, 'cbor'];

const mediaOf = ({ cbor }: Serving): readonly MediaName[] => (cbor ? MEDIA_WITH_CBOR : MEDIA);

/** All forms of an answer. */
export const FORMS: readonly Form[] = ['object', 'table', 'partial', 'partialList'];

/**
 * The forms that the events of a watch can have. `listed`: the watch begins with a list of all objects; upstream does
 * not send the events of such a watch as Tables.
 */
export const eventForms = (listed: boolean): readonly Form[] =>
  listed ? ['object', 'partial', 'partialList'] : ['object', 'table', 'partial', 'partialList'];

/** Chooses the form of an answer about a resource, of one object or many. Throws 406. */
export const chooseForm = (
  resource: Resource,
  accept: string | undefined,
  serving: Serving,
  { stream = false, collection = false, forms = FORMS } = {},
): Choice =>
  negotiate(accept || undefined, {
    media: mediaOf(serving),
    forms,
    // Custom kinds have no protobuf form (spec, "Media types"), but their metadata has.
    derivedProtobuf: !resource.builtIn,
    stream,
    collection,
    naming: serving.naming,
    routed: resource.builtIn,
  });

/** The name of the type of an object, or of a list (suffix `List`), in upstream's messages. */
const goType = (resource: Resource, suffix: '' | 'List'): string =>
  `*${resource.custom ? 'unstructured.Unstructured' : internalType(resource)}${suffix}`;

/**
 * Chooses the form of an answer with one object or with a list. Throws 406. Like upstream, it also throws 406 if the
 * client prefers the metadata of a list and the answer is one object, or the reverse, even if the client accepts other
 * forms.
 */
export function chooseAnswerForm(
  resource: Resource,
  accept: string | undefined,
  serving: Serving,
  list: boolean,
  forms: readonly Form[] = FORMS,
): Choice {
  const choice = chooseForm(resource, accept, serving, { collection: list, forms });
  if (choice.form !== (list ? 'partial' : 'partialList')) return choice;
  throw new Refusal(
    'NotAcceptable',
    list
      ? `you requested PartialObjectMetadata, but the requested object is a list (${goType(resource, 'List')})`
      : `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(resource, '')})`,
  );
}

/**
 * Encodes a Status in a media type that the client accepts, or else in JSON, so that no refusal is replaced by a 406.
 * Parameters of streams are ignored, because the answer is not a stream.
 */
export function encodeStatus(
  status: { readonly kind: string; readonly apiVersion: string },
  accept: string | undefined,
  serving: Serving,
  indent = false,
): { readonly contentType: string; readonly bytes: Uint8Array } {
  const choice = tryNegotiate(accept, serving);
  if (choice?.media === 'yaml') return { contentType: choice.contentType, bytes: Buffer.from(encodeYaml(status)) };
  if (choice?.media === 'cbor')
    return { contentType: choice.contentType, bytes: cborDocument(encodeJsonBody(status, false)) };
  const message = choice?.media === 'protobuf' ? encodeCommon(status) : undefined;
  if (choice && message) return { contentType: choice.contentType, bytes: message };
  return { contentType: 'application/json', bytes: encodeJsonBody(status, choice?.pretty ?? indent) };
}

/** Encodes the Status of a refusal in a media type that the client accepts, or else in JSON. */
export const encodeRefusal = (
  refusal: Refusal,
  accept: string | undefined,
  serving: Serving,
  indent = false,
): ReturnType<typeof encodeStatus> => encodeStatus(refusal.toStatus(), accept, serving, indent);

/** Encodes a JSON body: one line, or indented. */
export const encodeJsonBody = (value: object, indent: boolean): Buffer =>
  Buffer.from(indent ? encodeJson(value, true) : `${encodeJson(value)}\n`);

/** User agents that show answers to people. */
const INTERACTIVE = /^(?:curl|Wget|Mozilla\/5\.0)/;

/** Whether to indent JSON: by the query parameter `pretty`, or else by the user agent. */
export function isPretty(query: string, userAgent: string): boolean {
  const asked = query.includes('pretty') ? firstValue(parseQuery(query), 'pretty') : '';
  return asked === '' ? INTERACTIVE.test(userAgent) : parseGoBool(asked) === true;
}

function tryNegotiate(accept: string | undefined, serving: Serving): Choice | undefined {
  if (!accept || accept === 'application/json') return undefined;
  try {
    const { naming } = serving;
    return negotiate(accept, { media: mediaOf(serving), forms: ['object'], stream: false, naming, routed: false });
  } catch {
    return undefined;
  }
}
