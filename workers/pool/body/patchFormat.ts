import { Refusal } from '../../../core/model/refusal.js';
import type { Context } from '../context.js';
import { APPLY_CBOR, FORMATS, type PatchFormat } from './patchFormats.js';
import type { AuthorizedRequest } from '../types.js';

const BUILT_IN = Object.keys(FORMATS) as (keyof typeof FORMATS)[];
/** Custom kinds have no strategic merge. */
const CUSTOM = BUILT_IN.filter(mediaType => FORMATS[mediaType] !== 'strategic');

/**
 * The format of a PATCH, by its media type. Throws 415 with the media types that the resource accepts. For an unknown
 * media type, built-in kinds give the answer of upstream's router, which names none, and 406 if there is no body.
 */
export function patchFormat({ cbor }: Context, { job, resource }: AuthorizedRequest): PatchFormat {
  const given = job.contentType.split(';', 1)[0]!;
  const accepted = (resource.builtIn ? BUILT_IN : CUSTOM).filter(mediaType => cbor || mediaType !== APPLY_CBOR);
  const mediaType = accepted.find(one => one === given);
  if (mediaType) return FORMATS[mediaType];
  if (resource.builtIn && !accepted.some(one => one === given.trim()))
    throw job.contentType === '' && !job.body?.length
      ? new Refusal('NotAcceptable', '406: Not Acceptable\n\nAvailable representations: ', {})
      : new Refusal('UnsupportedMediaType', '415: Unsupported Media Type', {});
  const why = 'the body of the request was in an unknown format - accepted media types include';
  throw new Refusal('UnsupportedMediaType', `${why}: ${accepted.join(', ')}`);
}
