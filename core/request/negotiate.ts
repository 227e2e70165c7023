import { Refusal } from '../model/refusal.js';
import { type Naming, neutralMediaType } from '../naming.js';

/** Serializations the server speaks. */
export type MediaName = 'json' | 'yaml' | 'protobuf';

/** What stands in the body: the object or list itself, or a form derived from it. */
export type Form = 'object' | 'table' | 'partial' | 'partialList';

/**
 * What a handler can answer with. Order of `media` is the server's preference for wildcards and the order in refusals.
 */
export interface Offer {
  readonly media: readonly MediaName[];
  readonly forms: readonly Form[];
  /** The answer is a watch: `stream=watch` is understood and media types without framing (YAML) are not acceptable. */
  readonly stream: boolean;
  /** The answer is a list or a watch: upstream's routes of these have streams among their media types. */
  readonly collection?: boolean;
  readonly naming: Naming;
  /**
   * The media types are declared with the route, which refuses first and knows no wildcard but the widest one. Else the
   * handler alone refuses: paths of custom kinds and of groups.
   */
  readonly routed: boolean;
}

/** The outcome of a negotiation. */
export interface Choice {
  readonly form: Form;
  /** Version of the derived form's group; `v1` for `object`. */
  readonly version: 'v1' | 'v1beta1';
  readonly media: MediaName;
  /** `pretty` of the media type, undefined where the client did not say. */
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

/** Ranges beyond this many, and characters, are ignored: no client needs more, and unknown senders choose them. */
const MOST_RANGES = 64;
const MOST_CHARACTERS = 8192;

const NAMES: Readonly<Record<MediaName, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.orchestrator.protobuf',
};

const FORMS: ReadonlyMap<string, Form> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partial'],
  ['PartialObjectMetadataList', 'partialList'],
]);

const unquoted = (text: string): string =>
  text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;

/** Splits outside quoted strings, which may hold any delimiter. */
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

/** The media ranges of an Accept header as they are written. */
const rangesIn = (accept: string): readonly string[] =>
  splitUnquoted(accept.slice(0, MOST_CHARACTERS), ',').slice(0, MOST_RANGES);

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
    const value = unquoted(part.slice(at + 1).trim());
    if (name === 'q')
      quality = Number.isFinite(Number(value)) && value !== '' ? Math.min(1, Math.max(0, Number(value))) : 1;
    else parameters.set(name, value);
  }
  return { type, subtype, quality, parameters };
}

/** Whole ranges go before those with a wildcard subtype, `*\/*` comes last. */
const breadth = (range: MediaRange): number => (range.type === '*' ? 2 : range.subtype === '*' ? 1 : 0);

/**
 * The acceptable ranges, best first: by quality, then narrower before wider, then in the order of the header. A missing
 * or empty header accepts everything. Ranges with quality 0 are left out.
 */
export function parseAccept(accept: string | undefined): readonly MediaRange[] {
  if (accept === undefined || accept.trim() === '')
    return [{ type: '*', subtype: '*', quality: 1, parameters: new Map() }];
  const ranges: MediaRange[] = [];
  for (const part of rangesIn(accept)) {
    const range = parseRange(part);
    if (range && range.quality > 0) ranges.push(range);
  }
  return ranges.sort((a, b) => b.quality - a.quality || breadth(a) - breadth(b));
}

/** Whether a range covers a media type, parameters aside. Both spellings of the vendor are understood. */
export function covers(range: MediaRange, mediaType: string): boolean {
  if (range.type === '*') return true;
  const [type, subtype] = mediaType.split('/');
  if (range.type !== type) return false;
  return range.subtype === '*' || neutralMediaType(`${range.type}/${range.subtype}`) === `${type}/${subtype}`;
}

const isTrue = (value: string): boolean => value === '1' || value === 'true';

type Wanted = { form: Form; version: 'v1' | 'v1beta1'; pretty: boolean | undefined };

/** Media types that can be framed. */
const streams = (media: MediaName): boolean => media !== 'yaml';

/**
 * Reads the parameters of one range for one of the media types it covers; undefined where they ask for something the
 * offer does not have.
 */
function wanted(range: MediaRange, media: MediaName, offer: Offer): Wanted | undefined {
  const { parameters } = range;
  const stream = parameters.get('stream');
  if (stream && (stream !== 'watch' || !streams(media))) return undefined;
  if (parameters.has('sv')) return undefined;
  const asked = parameters.get('pretty');
  const pretty = asked === undefined ? undefined : isTrue(asked);
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) {
    return offer.forms.includes('object') ? { form: 'object', version: 'v1', pretty } : undefined;
  }
  const form = FORMS.get(parameters.get('as') ?? '');
  const version = parameters.get('v');
  if (!form || !offer.forms.includes(form) || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (neutralMediaType(`;g=${parameters.get('g') ?? ''}`) !== ';g=meta.orchestrator.io') return undefined;
  return { form, version, pretty };
}

const contentType = (media: MediaName, offer: Offer): string =>
  offer.naming.mediaType(NAMES[media]) + (offer.stream && media === 'protobuf' ? ';stream=watch' : '');

const names = ({ media, naming }: Offer): string[] => media.map(name => naming.mediaType(NAMES[name]));
const streamNames = ({ media, naming }: Offer): string[] =>
  media.filter(streams).map(name => `${naming.mediaType(NAMES[name])};stream=watch`);

/** The refusal where no range names a media type that is served at all. */
const noRepresentation = (offer: Offer): Refusal =>
  new Refusal(
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${[...names(offer), ...(offer.collection ? streamNames(offer) : [])].join(', ')}`,
    {},
  );

/** The refusal where the media type is served, but not with the parameters asked for. */
const notAcceptable = (accepted: readonly string[]): Refusal =>
  new Refusal('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

/**
 * Whether a route with these media types takes the header: it names one of them, whatever its quality and parameters,
 * or anything at all.
 */
function routeAccepts(accept: string | undefined, media: readonly MediaName[]): boolean {
  if (!accept) return true;
  return rangesIn(accept).some(part => {
    const [range = ''] = part.split(';', 1);
    const asked = neutralMediaType(range.trim().toLowerCase());
    return asked === '*/*' || media.some(name => asked === NAMES[name]);
  });
}

/**
 * Chooses media type and form of an answer by the Accept header (RFC 9110, section 12.5.1): the first acceptable range
 * that the offer can satisfy. Throws the 406 refusal where there is none.
 */
export function negotiate(accept: string | undefined, offer: Offer): Choice {
  // What most programs send, spared the parse.
  if (accept === NAMES.json && offer.media.includes('json') && offer.forms.includes('object'))
    return { form: 'object', version: 'v1', media: 'json', pretty: undefined, contentType: NAMES.json };
  if (offer.routed && !routeAccepts(accept, offer.media)) throw noRepresentation(offer);
  const ranges = parseAccept(accept);
  for (const range of ranges) {
    for (const media of offer.media) {
      if (!covers(range, NAMES[media])) continue;
      const want = wanted(range, media, offer);
      // A Table has cells of any JSON type and therefore no protobuf form.
      if (!want || (want.form === 'table' && media === 'protobuf')) continue;
      // As upstream, which looks for a media type first and for its framing then: what else the client accepts does not
      // count any more.
      if (offer.stream && !streams(media)) throw notAcceptable(streamNames(offer));
      return { ...want, media, contentType: contentType(media, offer) };
    }
  }
  throw notAcceptable(names(offer));
}
