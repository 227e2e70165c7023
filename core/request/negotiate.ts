import { Refusal } from '../model/refusal.js';
import type { Naming } from '../naming.js';
import { CBOR_SEQUENCE, CBOR_TYPE } from '../schema/cbor/cbor.js';

/** The serializations of the server. */
export type MediaName = 'json' | 'yaml' | 'protobuf' | 'cbor';

/** The settings on which the media types of a server depend. */
export interface Serving {
  readonly naming: Naming;
  /** Whether it has CBOR: the feature gate `CBORServingAndStorage`. */
  readonly cbor: boolean;
}

/** The content of a body: the object or list itself, or a form derived from it. */
export type Form = 'object' | 'table' | 'partial' | 'partialList';

/** The representations that an answer can have. */
export interface Offer {
  /** The media types in the order of preference for wildcards, which is also the order in error messages. */
  readonly media: readonly MediaName[];
  readonly forms: readonly Form[];
  /** Whether protobuf is for forms derived from objects only. */
  readonly derivedProtobuf?: boolean;
  /** The answer is a watch: `stream=watch` is accepted, and media types without frames (YAML) are not. */
  readonly stream: boolean;
  /** Whether the answer is a list or a watch. Upstream's refusals then also name streams. */
  readonly collection?: boolean;
  readonly naming: Naming;
  /**
   * Whether the path is that of a built-in kind. Upstream's router then accepts no wildcard except `*\/*`.
   */
  readonly routed: boolean;
}

/** The outcome of a negotiation. */
export interface Choice {
  readonly form: Form;
  /** The version of a derived form; `v1` for `object`. */
  readonly version: 'v1' | 'v1beta1';
  readonly media: MediaName;
  /** The parameter `pretty` of the media type, if it has one. */
  readonly pretty: boolean | undefined;
  /** Content-Type of the answer. */
  readonly contentType: string;
}

/** One media range of an Accept header (RFC 9110, section 12.5.1). Names and parameter names are lower case. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The limits of an Accept header; the rest is ignored. The sender may be unknown, and no client needs more. */
const MAX_RANGES = 64;
const MAX_CHARACTERS = 8192;

/** The media type of protobuf, in the neutral naming. */
export const PROTOBUF_TYPE = 'application/vnd.orchestrator.protobuf';

const NAMES: Readonly<Record<MediaName, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: PROTOBUF_TYPE,
  cbor: CBOR_TYPE,
};

const FORMS: ReadonlyMap<string, Form> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partial'],
  ['PartialObjectMetadataList', 'partialList'],
]);

const unquote = (text: string): string =>
  text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;

/** Splits a text at delimiters outside of quoted strings. */
function splitUnquoted(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    else if (text[i] === '\\' && quoted) i++;
    else if (text[i] === delimiter && !quoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The media ranges of an Accept header, unparsed. */
const rangesIn = (accept: string): readonly string[] =>
  splitUnquoted(accept.slice(0, MAX_CHARACTERS), ',').slice(0, MAX_RANGES);

function parseRange(text: string): MediaRange | undefined {
  const [range = '', ...rest] = splitUnquoted(text, ';');
  const [type = '', subtype = ''] = range.trim().toLowerCase().split('/');
  if (type === '' || subtype === '') return undefined;
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const part of rest) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const name = part.slice(0, at).trim().toLowerCase();
    const value = unquote(part.slice(at + 1).trim());
    if (name === 'q')
      quality = Number.isFinite(Number(value)) && value !== '' ? Math.min(1, Math.max(0, Number(value))) : 1;
    else parameters.set(name, value);
  }
  return { type, subtype, quality, parameters };
}

/** How wide a range is: 0 for a media type, 1 for a wildcard subtype, 2 for `*\/*`. */
const breadth = (range: MediaRange): number => (range.type === '*' ? 2 : range.subtype === '*' ? 1 : 0);

/**
 * The acceptable ranges, best first: by quality, then narrower before wider, then in the order of the header. A missing
 * or empty header accepts everything. Quality 0 is the lowest, not a refusal: upstream ranks it, against RFC 9110.
 */
export function parseAccept(accept: string | undefined): readonly MediaRange[] {
  if (accept === undefined || accept.trim() === '')
    return [{ type: '*', subtype: '*', quality: 1, parameters: new Map() }];
  const ranges: MediaRange[] = [];
  for (const part of rangesIn(accept)) {
    const range = parseRange(part);
    if (range) ranges.push(range);
  }
  return ranges.sort((a, b) => b.quality - a.quality || breadth(a) - breadth(b));
}

/**
 * Whether a range covers a media type. Its parameters are ignored. A range in the other naming does not cover the type:
 * a client that sends it could not read the names in the answer.
 */
export function covers(range: MediaRange, mediaType: string): boolean {
  if (range.type === '*') return true;
  const [type, subtype] = mediaType.split('/');
  if (range.type !== type) return false;
  return range.subtype === '*' || range.subtype === subtype;
}

const isTrue = (value: string): boolean => value === '1' || value === 'true';

type Parameters = { form: Form; version: 'v1' | 'v1beta1'; pretty: boolean | undefined };

/** Whether a media type has frames for the events of a watch. */
const canStream = (media: MediaName): boolean => media !== 'yaml';

/** Parses the parameters of a range for a media type that it covers; undefined if the offer cannot meet them. */
function parseParameters(range: MediaRange, media: MediaName, offer: Offer): Parameters | undefined {
  const { parameters } = range;
  const stream = parameters.get('stream');
  if (stream && (stream !== 'watch' || !canStream(media))) return undefined;
  if (parameters.has('sv')) return undefined;
  const asked = parameters.get('pretty');
  const pretty = asked === undefined ? undefined : isTrue(asked);
  if (!parameters.get('as') && !parameters.has('g') && !parameters.has('v')) {
    return offer.forms.includes('object') ? { form: 'object', version: 'v1', pretty } : undefined;
  }
  const form = FORMS.get(parameters.get('as') ?? '');
  const version = parameters.get('v');
  if (!form || !offer.forms.includes(form) || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (parameters.get('g') !== offer.naming.group('meta.orchestrator.io')) return undefined;
  return { form, version, pretty };
}

/** The content type of the events of a watch. That of JSON has no parameter. */
const streamType = (media: MediaName, naming: Naming): string =>
  media === 'cbor' ? CBOR_SEQUENCE : naming.mediaType(NAMES[media]) + (media === 'protobuf' ? ';stream=watch' : '');

const contentType = (media: MediaName, { stream, naming }: Offer): string =>
  stream ? streamType(media, naming) : naming.mediaType(NAMES[media]);

/** The media type of a serialization, in a naming. */
export const mediaTypeOf = (media: MediaName, naming: Naming): string => naming.mediaType(NAMES[media]);

const mediaTypes = ({ media, naming }: Offer): string[] => media.map(name => mediaTypeOf(name, naming));
const streamTypes = ({ media, naming }: Offer): string[] =>
  media
    .filter(canStream)
    .map(name => (name === 'cbor' ? CBOR_SEQUENCE : `${naming.mediaType(NAMES[name])};stream=watch`));

/** The refusal of upstream's router: no range names a media type of the route. */
const noRepresentation = (available: readonly string[]): Refusal =>
  new Refusal('NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`, {});

const representations = (offer: Offer): string[] => [
  ...mediaTypes(offer),
  ...(offer.collection ? streamTypes(offer) : []),
];

/** The refusal of upstream's handlers: nothing that is accepted can be served. */
const notAcceptable = (accepted: readonly string[]): Refusal =>
  new Refusal('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

/** The media types of a route. */
const routedTypes = ({ media, naming, collection }: Offer): readonly string[] => [
  ...media.map(name => mediaTypeOf(name, naming)),
  ...(collection && media.includes('cbor') ? [CBOR_SEQUENCE] : []),
];

/** Whether upstream's router accepts a header: it names a media type or `*\/*`, with any quality and parameters. */
function routeAccepts(accept: string | undefined, mediaTypes: readonly string[]): boolean {
  if (!accept) return true;
  return rangesIn(accept).some(part => {
    const [range = ''] = part.split(';', 1);
    const asked = range.trim().toLowerCase();
    return asked === '*/*' || mediaTypes.includes(asked);
  });
}

/** Throws the 406 of upstream's router unless an Accept header names one of the media types of a document. */
export function checkAccepts(accept: string | undefined, ...mediaTypes: readonly string[]): void {
  if (!routeAccepts(accept, mediaTypes)) throw noRepresentation(mediaTypes);
}

/**
 * Whether a media type has a form. A Table has cells of any JSON type and therefore no protobuf form; upstream has none
 * in CBOR either.
 */
const hasForm = (media: MediaName, form: Form, { derivedProtobuf }: Offer): boolean =>
  media === 'protobuf'
    ? form !== 'table' && !(derivedProtobuf && form === 'object')
    : !(media === 'cbor' && form === 'table');

/**
 * Chooses the media type and the form of an answer by the Accept header (RFC 9110, section 12.5.1): those of the best
 * range that matches the offer. Throws 406 if no range matches.
 */
export function negotiate(accept: string | undefined, offer: Offer): Choice {
  // The header of most clients needs no parsing.
  if (accept === NAMES.json && offer.media.includes('json') && offer.forms.includes('object'))
    return { form: 'object', version: 'v1', media: 'json', pretty: undefined, contentType: NAMES.json };
  if (offer.routed && !routeAccepts(accept, routedTypes(offer))) throw noRepresentation(representations(offer));
  const ranges = parseAccept(accept);
  for (const range of ranges) {
    for (const media of offer.media) {
      if (!covers(range, mediaTypeOf(media, offer.naming))) continue;
      const parameters = parseParameters(range, media, offer);
      if (!parameters || !hasForm(media, parameters.form, offer)) continue;
      // Upstream ignores the other ranges once it has chosen a media type that cannot be streamed.
      if (offer.stream && !canStream(media)) throw notAcceptable(streamTypes(offer));
      return { ...parameters, media, contentType: contentType(media, offer) };
    }
  }
  throw notAcceptable(mediaTypes(offer));
}
