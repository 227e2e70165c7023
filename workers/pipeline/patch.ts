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

const FORMATS = Object.keys(TYPES) as (keyof typeof TYPES)[];
/** What custom kinds take. */
const CUSTOM_FORMATS = FORMATS.filter(format => TYPES[format] !== 'strategic');

/** A patch format. */
export type PatchType = (typeof TYPES)[keyof typeof TYPES];

/**
 * The format of a PATCH, to the letter. Throws 415, which names the formats the resource takes; custom kinds have no
 * strategic merge. Of built-in kinds upstream's router already refuses what is none: it reads over spaces, and names
 * nothing.
 */
export function patchType({ job, resource }: Permitted): PatchType {
  const given = job.contentType.split(';', 1)[0]!;
  const formats = resource.builtIn ? FORMATS : CUSTOM_FORMATS;
  const format = formats.find(one => one === given);
  if (format) return TYPES[format];
  if (resource.builtIn && !formats.some(one => one === given.trim()))
    throw new Refusal('UnsupportedMediaType', '415: Unsupported Media Type', {});
  const why = 'the body of the request was in an unknown format - accepted media types include';
  throw new Refusal('UnsupportedMediaType', `${why}: ${formats.join(', ')}`);
}

/** Custom kinds are told that a patch failed, not why. */
function withoutReason<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
    throw new Refusal('Invalid', error.message.split(': ', 1)[0]!, error.details);
  }
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
      return permitted.resource.custom
        ? withoutReason(() => applyJsonPatch(before, patch, JSON_PATCH_OPERATIONS))
        : applyJsonPatch(before, patch, JSON_PATCH_OPERATIONS);
    case 'merge':
      return applyMergePatch(before, patch);
    case 'strategic':
      return applyStrategicPatch(before, patch, struct);
  }
}
