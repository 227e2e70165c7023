import { Refusal } from '../model/refusal.js';
import type { Naming } from '../naming.js';
import { type Choice, type Form, type MediaName, negotiate } from './negotiate.js';
import { encodeJson } from '../schema/json.js';
import { encodeCommon } from '../schema/protobuf.js';
import type { Resource } from '../schema/resource.js';
import { encodeYaml } from '../schema/yaml.js';
import { first, parseQuery } from './query.js';

const ALL: readonly MediaName[] = ['json', 'yaml', 'protobuf'];
const WITHOUT_PROTOBUF: readonly MediaName[] = ['json', 'yaml'];

/** Serializations of a resource: custom kinds have no protobuf form (spec, "Media types"). */
const mediaOf = (resource: Resource): readonly MediaName[] => (resource.builtIn ? ALL : WITHOUT_PROTOBUF);

/** All that an answer can be. */
export const FORMS: readonly Form[] = ['object', 'table', 'partial', 'partialList'];

/** What an answer about a resource can be; `partial` and `partialList` depend on what it holds. Throws 406. */
export const chooseForm = (
  resource: Resource,
  accept: string | undefined,
  naming: Naming,
  { stream = false, collection = false, forms = FORMS } = {},
): Choice =>
  negotiate(accept || undefined, {
    media: mediaOf(resource),
    forms,
    stream,
    collection,
    naming,
    routed: resource.builtIn,
  });

/**
 * What an answer of one object, or of a list of them, is. As upstream the metadata of one object are not a list's, nor
 * the other way round: who asks for them is refused, whatever else it accepts. Throws 406.
 */
export function formOf(
  resource: Resource,
  accept: string | undefined,
  naming: Naming,
  list: boolean,
  forms: readonly Form[] = FORMS,
): Choice {
  const choice = chooseForm(resource, accept, naming, { collection: list, forms });
  if (choice.form !== (list ? 'partial' : 'partialList')) return choice;
  throw new Refusal(
    'NotAcceptable',
    list
      ? `you requested PartialObjectMetadata, but the requested object is a list (${resource.listKind})`
      : `you requested PartialObjectMetadataList, but the requested object is not a list (${resource.kind})`,
  );
}

/**
 * A Status in the serialization that the client accepts, in JSON where it accepts none: a refusal is never hidden
 * behind another one. Streams have begun before they can fail, so their parameters play no role here.
 */
export function statusForm(
  status: { readonly kind: string; readonly apiVersion: string },
  accept: string | undefined,
  naming: Naming,
  indent = false,
): { readonly contentType: string; readonly bytes: Uint8Array } {
  const choice = choiceOf(accept, naming);
  if (choice?.media === 'yaml') return { contentType: choice.contentType, bytes: Buffer.from(encodeYaml(status)) };
  const message = choice?.media === 'protobuf' ? encodeCommon(status) : undefined;
  if (choice && message) return { contentType: choice.contentType, bytes: message };
  return { contentType: 'application/json', bytes: jsonBytes(status, indent) };
}

/** The answer of a refusal in the client's form. */
export const refusalForm = (
  refusal: Refusal,
  accept: string | undefined,
  naming: Naming,
  indent = false,
): ReturnType<typeof statusForm> => statusForm(refusal.toStatus(), accept, naming, indent);

/** A JSON answer: a line, or indented. */
export const jsonBytes = (value: object, indent: boolean): Buffer =>
  Buffer.from(indent ? encodeJson(value, true) : `${encodeJson(value)}\n`);

/** Programs that people read answers with. */
const READERS = /^(?:curl|Wget|Mozilla\/5\.0)/;
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/**
 * Whether JSON is to be indented although its media type does not say so: as the parameter `pretty` has it, else for
 * those programs.
 */
export function indents(query: string, userAgent: string): boolean {
  const asked = query.includes('pretty') ? first(parseQuery(query), 'pretty') : '';
  return asked === '' ? READERS.test(userAgent) : TRUE.has(asked);
}

function choiceOf(accept: string | undefined, naming: Naming): Choice | undefined {
  if (!accept || accept.startsWith('application/json')) return undefined;
  try {
    return negotiate(accept, { media: ALL, forms: ['object'], stream: false, naming, routed: false });
  } catch {
    return undefined;
  }
}
