import { JSON_PATCH_OPERATIONS } from '../../core/limits.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Struct } from '../../core/schema/model.js';
import { applyJsonPatch, jsonPatchErrors } from '../../core/schema/patch/jsonPatch.js';
import { applyMergePatch } from '../../core/schema/patch/mergePatch.js';
import { applyStrategicPatch } from '../../core/schema/patch/strategic.js';
import { parseBody } from './body.js';
import type { Context } from './context.js';
import { decodePatched } from './decode.js';
import { notFoundError } from './errors.js';
import { managersOfScaled } from './managers.js';
import { checkName, ensureNamespace } from './preconditions.js';
import { isScale, replaceScale, scaleOf, scaleWithReplicas } from './scale.js';
import type { DecodedPatch, ObjectWrite } from './stages.js';
import { replaceObject } from './update.js';
import { currentObject } from './versions.js';

/**
 * PATCH in a format that changes the current object. Throws 404, and 400, 409, 415 and 422 for the patch and its
 * result.
 */
export function patch(context: Context, decoded: DecodedPatch): ObjectWrite {
  const { request, options, format } = decoded;
  const old = currentObject(request);
  if (!old) throw notFoundError(request);
  if (isScale(request.route)) return patchScale(context, decoded, old);
  const result = applyPatch(context, decoded, old, request.resource.type);
  const object = decodePatched(context, request, options, result, undefined, format === 'strategic');
  checkName(request, object);
  ensureNamespace(request, object);
  return replaceObject(context, request, options.dryRun, object, old);
}

function patchScale(context: Context, decoded: DecodedPatch, old: ApiObject): ObjectWrite {
  const { request, options, format } = decoded;
  const { resource, route } = request;
  const type = route.subresource!.type!;
  const result = applyPatch(context, decoded, scaleWithReplicas(resource, old), type);
  const scale = decodePatched(context, request, options, result, type, format === 'strategic');
  const managers = managersOfScaled(context, request, old, scaleOf(resource, old, true), scale);
  return replaceScale(context, request, options.dryRun, scale, old, managers);
}

/** Applies the patch in the body to an object of the type. The result is not decoded yet. */
function applyPatch(
  context: Context,
  { request, options, format }: DecodedPatch,
  object: ApiObject,
  type: Struct,
): Json {
  const document = parseBody(context, request, options);
  const before = object as unknown as Json;
  switch (format) {
    case 'json': {
      if (options.fieldValidation !== 'Ignore') {
        // Errors in a JSON Patch name its operations, which the general parser does not know.
        const strictErrors = jsonPatchErrors(Buffer.from(request.job.body!).toString('utf8'));
        request.duplicates.splice(0, Infinity, ...strictErrors);
      }
      const apply = (): Json => applyJsonPatch(before, document, JSON_PATCH_OPERATIONS);
      return request.resource.custom ? withoutReason(apply) : apply();
    }
    case 'merge':
      return applyMergePatch(before, document);
    case 'strategic':
      return applyStrategicPatch(before, document, type);
  }
}

/** Removes the reason from an Invalid refusal, as upstream does for JSON Patches of custom kinds. */
function withoutReason<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'Invalid') throw error;
    throw new Refusal('Invalid', error.message.split(': ', 1)[0]!, error.details);
  }
}
