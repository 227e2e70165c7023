import { JSON_PATCH_OPERATIONS } from '../../../core/limits.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { badRequest } from '../../../core/model/refusal.js';
import type { Struct } from '../../../core/schema/model.js';
import { applyJsonPatch, jsonPatchErrors } from '../../../core/schema/patch/jsonPatch.js';
import { applyMergePatch } from '../../../core/schema/patch/mergePatch.js';
import { applyStrategicPatch } from '../../../core/schema/patch/strategic.js';
import { UnreadableBody } from '../../../core/schema/decode/unreadable.js';
import { parseBody } from '../body/body.js';
import type { Context } from '../context.js';
import { decodePatched } from '../stages/decode.js';
import { notFoundError } from '../errors.js';
import { managersOfScaled } from '../stages/managers.js';
import { checkName, ensureNamespace } from '../stages/preconditions.js';
import { isScale, replaceScale, scaleOf, scaleWithReplicas } from '../subresources/scale.js';
import type { DecodedPatch, ObjectWrite } from '../types.js';
import { replaceObject } from './update.js';
import { currentObject } from '../answers/versions.js';

/**
 * PATCH in a format that changes the current object. Throws 404, and 400, 409, 415 and 422 for the patch and its
 * result.
 */
export async function patch(context: Context, decoded: DecodedPatch): Promise<ObjectWrite> {
  const { request, options, format } = decoded;
  const old = await currentObject(context, request);
  if (!old) throw notFoundError(request);
  if (isScale(request.route)) return patchScale(context, decoded, old);
  const result = applyPatch(context, decoded, old, request.resource.type);
  const object = decodePatched(
    context,
    request,
    options,
    result,
    undefined,
    format === 'strategic' ? 'strategic' : 'json',
  );
  checkName(request, object);
  ensureNamespace(request, object);
  return replaceObject(context, request, options.dryRun, object, old);
}

function patchScale(context: Context, decoded: DecodedPatch, old: ApiObject): ObjectWrite {
  const { request, options, format } = decoded;
  const { resource, route } = request;
  const type = route.subresource!.type!;
  // In upstream, operations of a JSON Patch find no replicas in an object of a built-in kind that has none.
  const before =
    format === 'json' && resource.builtIn ? scaleOf(resource, old, true) : scaleWithReplicas(resource, old);
  const result = applyPatch(context, decoded, before, type);
  const scale = decodePatched(context, request, options, result, type, format === 'strategic' ? 'strategic' : 'json');
  const managers = managersOfScaled(context, request, old, scaleOf(resource, old, true), scale);
  return replaceScale(context, request, options.dryRun, scale, old, managers);
}

/** Applies the patch in the body to an object of the type. The result is not decoded yet. */
function applyPatch(context: Context, decoded: DecodedPatch, object: ApiObject, type: Struct): Json {
  const { request, options, format } = decoded;
  const document = parsePatch(context, decoded);
  const before = object as unknown as Json;
  switch (format) {
    case 'json': {
      const isChecked = options.fieldValidation !== 'Ignore';
      if (isChecked) {
        // Errors in a JSON Patch name its operations, which the general parser does not know.
        const strictErrors = jsonPatchErrors(Buffer.from(request.job.body!).toString('utf8'));
        request.duplicates.splice(0, Infinity, ...strictErrors);
      }
      return applyJsonPatch(before, document, JSON_PATCH_OPERATIONS, isChecked);
    }
    case 'merge':
      return applyMergePatch(before, document);
    case 'strategic':
      return applyStrategicPatch(before, document, type);
  }
}

/** Parses the body of a patch. Throws 400 with the syntax error. */
function parsePatch(context: Context, { request, options, format }: DecodedPatch): Json {
  try {
    return parseBody(context, request, options);
  } catch (error) {
    if (!(error instanceof UnreadableBody) || !error.syntaxError) throw error;
    if (format === 'strategic') throw badRequest(error.syntaxError);
    // Only the search for unknown and duplicate fields describes the error in upstream.
    if (options.fieldValidation === 'Ignore')
      throw badRequest(format === 'merge' ? 'Invalid JSON Patch' : error.syntaxError);
    throw badRequest(`error decoding patch: ${error.syntaxError}`);
  }
}
