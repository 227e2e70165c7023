import { writeJson } from '../../../core/model/text/jsonText.js';
import type { ApiObject, Json, ObjectMeta } from '../../../core/model/object.js';
import { badRequest, invalid, invalidObject, methodNotAllowed, Refusal } from '../../../core/model/refusal.js';
import {
  decodeAsKind,
  decodeObject,
  type DecodeSink,
  normalize,
  parseJson,
  TypeMismatch,
} from '../../../core/schema/decode/decode.js';
import type { Struct } from '../../../core/schema/model.js';
import { isMembers, treeText } from '../../../core/schema/patch/members.js';
import type { Resource } from '../../../core/schema/resource.js';
import { checkAction } from '../subresources/actions.js';
import {
  checkMediaType,
  explainUnreadable,
  orderStrictErrors,
  parseBody,
  reportStrictErrors,
  strictRefusal,
} from '../body/body.js';
import type { Context } from '../context.js';
import { decodeDeleteOptions } from '../body/deleteOptions.js';
import { checkEnvelope, checkSubresourceEnvelope, unknownInOtherVersion, versionIn } from '../body/envelope.js';
import { parseWriteOptions, type WriteOptions } from '../body/options.js';
import { patchFormat } from '../body/patchFormat.js';
import { checkName, checkPathName, ensureNamespace, missingName } from './preconditions.js';
import type { AuthorizedRequest, DecodedWrite } from '../types.js';

/**
 * The options of a write, and the object of its body: as far as that can be read without the current object. Throws
 * 400, 404, 415 and 422, and 405 for a method that the resource does not have.
 */
export function decodeRequest(context: Context, request: AuthorizedRequest): DecodedWrite {
  const { route, target } = request;
  switch (target.verb) {
    case 'create': {
      // Upstream reads the options of other writes before the media type.
      checkMediaType(context, request);
      const options = parseWriteOptions(route.query, context.naming, 'CreateOptions');
      const is = kindOfCreate(request);
      if (is === 'action') checkAction(context, request);
      const object = decodeBody(context, request, options);
      ensureNamespace(request, object);
      return { is, request, options, object };
    }
    case 'update': {
      checkPathName(request);
      const options = parseWriteOptions(route.query, context.naming, 'UpdateOptions');
      const object = decodeBody(context, request, options);
      ensureNamespace(request, object);
      checkName(request, object);
      return { is: 'update', request, options, object };
    }
    case 'patch': {
      const format = patchFormat(context, request);
      checkPathName(request);
      const options = parseWriteOptions(route.query, context.naming, 'PatchOptions', format === 'apply');
      return format === 'apply' ? { is: 'apply', request, options } : { is: 'patch', request, options, format };
    }
    case 'delete':
      return { is: 'delete', request, options: decodeDeleteOptions(context, request) };
    default:
      throw methodNotAllowed();
  }
}

/** Returns the operation of a POST: create an object, act on one, or answer a review, which is not stored. */
function kindOfCreate({ resource, route }: AuthorizedRequest): 'create' | 'action' | 'review' {
  if (route.subresource) return 'action';
  if (resource.stored) return 'create';
  return resource.strategy.review ? 'review' : 'action';
}

/**
 * The object of the body of a create or update. `kind` and `apiVersion` may be left out for built-in kinds, but may
 * not differ from those of the path.
 */
function decodeBody(context: Context, request: AuthorizedRequest, options: WriteOptions): ApiObject {
  const { route, resource, warnings } = request;
  const { subresource } = route;
  if (subresource?.type && subresource.kind !== resource.kind) return decodeSubresource(context, request, options);
  const value = explainUnreadable(request, () => {
    const parsed = parseBody(context, request, options);
    reportStrictErrors(options.fieldValidation, unknownInOtherVersion(request, parsed), warnings, all =>
      strictRefusal(request, all, versionIn(parsed)),
    );
    return checkEnvelope(context, request, parsed);
  });
  const duplicates = request.duplicates.splice(0);
  const unknown: string[] = [];
  const object = decodeObject(resource, value, {
    strictErrors: unknown,
    emptied: request.emptied,
    unstored: request.unstored,
    numberMismatch: request.numberMismatch,
  });
  const strictErrors = resource.custom
    ? [...duplicates, ...unknown]
    : orderStrictErrors(request, resource.type, duplicates, unknown);
  reportStrictErrors(options.fieldValidation, strictErrors, warnings, all => strictRefusal(request, all));
  return withDefaults(resource, object);
}

/** The object of a body whose kind is not the resource's (Scale, Binding). */
function decodeSubresource(context: Context, request: AuthorizedRequest, options: WriteOptions): ApiObject {
  const value = explainUnreadable(request, () => parseBody(context, request, options));
  const type = request.route.subresource!.type!;
  const duplicates = request.duplicates.splice(0);
  const unknown: string[] = [];
  const object = explainUnreadable(request, () => decodeAs(context, request, value, unknown));
  const strictErrors = orderStrictErrors(request, type, duplicates, unknown);
  reportStrictErrors(options.fieldValidation, strictErrors, request.warnings, all => strictRefusal(request, all));
  return object;
}

function decodeAs(context: Context, request: AuthorizedRequest, value: Json, strictErrors: string[]): ApiObject {
  const { kind, version, type } = request.route.subresource!;
  const members = checkSubresourceEnvelope(context, request, value);
  try {
    return normalizeAs(type!, members, { strictErrors, numberMismatch: request.numberMismatch });
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error.message}`);
  }
}

function withDefaults(resource: Resource, object: ApiObject): ApiObject {
  object.metadata = (object.metadata ?? {}) as ObjectMeta;
  resource.strategy.applyDefaults(object);
  return object;
}

/**
 * The object that a patch or an apply leads to. `type` is that of a subresource with a kind of its own. Errors in the
 * patch itself come before unknown fields, which a strategic merge reports in sorted order. Upstream keeps nulls in the
 * result of an apply to a custom kind. Throws 400 for a result without a version. Throws 422 for a result that is not
 * an object of the kind, and for unknown fields where they are refused: it shows the patch if it is a strategic one,
 * else the result.
 */
export function decodePatched(
  context: Context,
  request: AuthorizedRequest,
  options: WriteOptions,
  value: Json,
  type?: Struct,
  form: 'json' | 'strategic' | 'apply' = 'json',
): ApiObject {
  const { resource, warnings, job, emptied, unstored, numberMismatch } = request;
  const strategic = form === 'strategic';
  const invalidPatch = (why: string): Refusal => {
    const given = strategic && job.body ? treeText(parseJson(job.body)) : writeJson(value);
    return invalidObject('', '', '', [invalid('patch', given, why)]);
  };
  const refuseUnknown = (all: string): Refusal => invalidPatch(`strict decoding error: ${all}`);
  // Upstream reads an object without a version in a form whose metadata has other members, and finds no name.
  if (resource.builtIn && !strategic && isMembers(value) && !value['apiVersion']) throw missingName(request);
  const unknown: string[] = [];
  const sink = {
    strictErrors: unknown,
    emptied,
    unstored,
    isMerged: strategic,
    keepsNulls: form === 'apply',
    numberMismatch,
  };
  let object: ApiObject;
  try {
    // A strategic merge knows the type of its result: kind and version in the patch have no effect.
    const checkKind = type ? checkSubresourceEnvelope : checkEnvelope;
    reportStrictErrors(
      options.fieldValidation,
      type ? [] : unknownInOtherVersion(request, value),
      warnings,
      refuseUnknown,
    );
    const members = strategic ? value : checkKind(context, request, value);
    object = type ? normalizeAs(type, members, sink) : decodeAsKind(resource, members, sink);
  } catch (error) {
    // The patch is well-formed, but its result is not an object of the kind.
    const isInvalid = error instanceof TypeMismatch || (error instanceof Refusal && error.reason === 'BadRequest');
    throw isInvalid ? invalidPatch(error.message) : error;
  }
  if (strategic) unknown.sort();
  // The merge of an apply has checked the fields of a custom kind.
  const isChecked = form === 'apply' && resource.custom !== undefined;
  const strictErrors = [...request.duplicates.splice(0), ...(isChecked ? [] : unknown)];
  reportStrictErrors(options.fieldValidation, strictErrors, warnings, refuseUnknown);
  return type ? object : withDefaults(resource, object);
}

function normalizeAs(type: Struct, value: Json, sink: DecodeSink): ApiObject {
  const object = normalize(type, value, sink) as unknown as ApiObject;
  object.metadata ??= {};
  return object;
}
