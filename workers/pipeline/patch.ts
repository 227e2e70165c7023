import { JSON_PATCH_OPERATIONS } from '../../core/limits.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Struct } from '../../core/schema/model.js';
import { parseBody } from './body.js';
import type { Context, Permitted } from './context.js';
import type { WriteOptions } from './options.js';
import { applyJsonPatch, jsonPatchComplaints } from '../../core/schema/patch/jsonPatch.js';
import { applyMergePatch } from '../../core/schema/patch/mergePatch.js';
import { applyStrategicPatch } from '../../core/schema/patch/strategic.js';

/** Patch formats by media type (spec, "Patch content types"). */
const TYPES = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const;

const UNKNOWN_FORMAT = 'the body of the request was in an unknown format - accepted media types include: ';
/** What custom kinds take. */
const OWN_FORMATS = Object.keys(TYPES).filter(type => TYPES[type as keyof typeof TYPES] !== 'strategic');

/** A patch format. */
export type PatchType = (typeof TYPES)[keyof typeof TYPES];

/** The format of a PATCH. Throws 415, which names the formats the resource takes; custom kinds have no strategic merge. */
export function patchType({ job, resource }: Permitted): PatchType {
  const mediaType = job.contentType.split(';')[0]!.trim().toLowerCase();
  const type = Object.hasOwn(TYPES, mediaType) ? TYPES[mediaType as keyof typeof TYPES] : undefined;
  if (type && (type !== 'strategic' || resource.builtIn)) return type;
  if (resource.builtIn) throw new Refusal('UnsupportedMediaType', '415: Unsupported Media Type', {});
  throw new Refusal('UnsupportedMediaType', `${UNKNOWN_FORMAT}${OWN_FORMATS.join(', ')}`);
}

/** The object after a patch that changes it, undecoded. Throws the patch's own refusals. */
export function patched(
  type: Exclude<PatchType, 'apply'>,
  object: ApiObject,
  body: Uint8Array,
  struct: Struct,
  permitted: Permitted,
  context: Context,
  options: WriteOptions,
): Json {
  const patch = parseBody(context, permitted, options, body);
  if (type === 'json' && options.fieldValidation !== 'Ignore')
    permitted.duplicates.splice(0, Infinity, ...jsonPatchComplaints(Buffer.from(body).toString('utf8')));
  const before = object as unknown as Json;
  switch (type) {
    case 'json':
      return applyJsonPatch(before, patch, JSON_PATCH_OPERATIONS);
    case 'merge':
      return applyMergePatch(before, patch);
    case 'strategic':
      return applyStrategicPatch(before, patch, struct);
  }
}
