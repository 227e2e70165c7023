import { ANNOTATIONS_BYTES } from '../../../core/limits.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { badRequest } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { parseFlag } from '../../../core/request/query.js';
import { type FieldSet, LEAF, pathTexts } from '../../../core/schema/apply/fieldSet.js';
import { unchangedLastApplied, LAST_APPLIED_MANAGER, lastAppliedText } from '../../../core/schema/apply/lastApplied.js';
import type { ManagedKind } from '../../../core/schema/apply/managedKind.js';
import {
  applyConfiguration,
  type ApplyResult,
  ApplyConflict,
  SchemaMismatch,
} from '../../../core/schema/apply/manager.js';
import { type FieldManagers, decodeManagers } from '../../../core/schema/apply/fieldManagers.js';
import { scaleManagers, managersAfterScale, SCALE_VERSION } from '../../../core/schema/apply/scale.js';
import { decodeCbor } from '../../../core/schema/cbor/cborDecode.js';
import { parseStrict, type StrictJson } from '../../../core/schema/json/json.js';
import { deepCopy, isMembers, type Members } from '../../../core/schema/patch/members.js';
import { valueMismatch } from '../../../core/schema/patch/mismatch.js';
import { UnreadableBody } from '../../../core/schema/decode/unreadable.js';
import { decodeYamlStrict } from '../../../core/schema/yaml/yaml.js';
import { checkCreatePermission } from '../stages/access.js';
import { applyConflictError, kindText, notApplicableError } from './applyErrors.js';
import { reportStrictErrors } from '../body/body.js';
import type { Context } from '../context.js';
import { createObject } from './create.js';
import { computeWith } from '../answers/conversion.js';
import { decodePatched } from '../stages/decode.js';
import { conflictError, notFoundError } from '../errors.js';
import { kindOf, managerOf, replicasField, scaleKind, writerOf } from '../stages/managers.js';
import type { WriteOptions } from '../body/options.js';
import { APPLY_CBOR } from '../body/patchFormats.js';
import { checkName, ensureNamespace } from '../stages/preconditions.js';
import { isScale, replaceScale, scaleWithReplicas } from '../subresources/scale.js';
import type { AuthorizedRequest, DecodedApply, ObjectWrite } from '../types.js';
import { replaceObject } from './update.js';
import { currentObject } from '../answers/versions.js';

/**
 * PATCH that applies a configuration: creates the object or updates it (spec, "Updates: server-side apply"). Throws 404
 * for a subresource of an object that does not exist, and 400, 403, 409 and 422.
 */
export async function apply(context: Context, { request, options }: DecodedApply): Promise<ObjectWrite> {
  const { route, target, user } = request;
  const { dryRun } = options;
  const old = await currentObject(context, request);
  if (!old && route.subresource) throw notFoundError(request);
  if (old && isScale(route)) {
    const { object, managers } = applyToScale(context, request, options, old);
    return replaceScale(context, request, dryRun, object, old, managers);
  }
  if (!old) await checkCreatePermission(context, user, target);
  const { object, managers } = await applyToObject(context, request, options, old);
  checkName(request, object);
  ensureNamespace(request, object);
  if (old) return replaceObject(context, request, dryRun, object, old, managers);
  const { uid } = object.metadata;
  if (uid)
    throw conflictError(
      request,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  // Without a current object there is no version to compare with.
  delete object.metadata.resourceVersion;
  return createObject(context, request, dryRun, object, managers);
}

interface Applied {
  readonly object: ApiObject;
  readonly managers: FieldManagers;
}

/** Applies the configuration in the body to the current object, or creates one. */
async function applyToObject(
  context: Context,
  request: AuthorizedRequest,
  options: WriteOptions,
  old: ApiObject | undefined,
): Promise<Applied> {
  const { resource, route } = request;
  const config = parseConfig(request, options, resource.apiVersion, resource.kind);
  const managers = decodeManagers(old?.metadata.managedFields);
  const merged = await computeWith(context, resource, kindOf(context, request), kind =>
    applyConfig(context, request, kind, old, config, managers),
  );
  // An unchanged object gets no defaults: those of a version that is not stored would change it with every apply.
  const object = merged.isUnchanged
    ? deepCopy(old!)
    : decodePatched(context, request, options, merged.object, undefined, 'apply');
  // An apply of the status does not change annotations of the object.
  if (!route.subresource) keepLastApplied(context.naming, request, object, config);
  return { object, managers: merged.managers };
}

/**
 * Applies the configuration in the body, a Scale, to the scale of the current object. Returns the object's managers.
 */
function applyToScale(context: Context, request: AuthorizedRequest, options: WriteOptions, old: ApiObject): Applied {
  const { resource, route } = request;
  const scale = scaleWithReplicas(resource, old);
  const config = parseConfig(request, options, SCALE_VERSION, 'Scale');
  const managers = decodeManagers(old.metadata.managedFields);
  const field = replicasField(request);
  const merged = applyConfig(context, request, scaleKind(request), scale, config, scaleManagers(managers, field));
  return {
    object: decodePatched(context, request, options, merged.object, route.subresource!.type),
    managers: managersAfterScale(managers, merged.managers, field, resource.apiVersion),
  };
}

/** Merges a configuration into an object. Throws 409 for conflicts, 422 for a configuration that cannot be merged. */
function applyConfig(
  context: Context,
  request: AuthorizedRequest,
  kind: ManagedKind,
  old: ApiObject | undefined,
  config: Members,
  managers: FieldManagers,
): ApplyResult {
  const writer = writerOf(context, request);
  const before = old as unknown as Json | undefined;
  const force = parseFlag(request.route.query, 'force');
  try {
    return applyConfiguration(kind, writer, before, config, managers, force);
  } catch (thrown) {
    if (thrown instanceof SchemaMismatch) throw notApplicableError(config, thrown.message);
    if (!(thrown instanceof ApplyConflict)) throw thrown;
    // Fields that kubectl has set by client-side apply do not conflict: it takes over their ownership.
    const own = old && writer.manager === LAST_APPLIED_MANAGER ? lastAppliedFields(context, kind, old) : LEAF;
    const ownPaths = new Set(pathTexts(own));
    const conflicts = thrown.conflicts.filter(({ path }) => !ownPaths.has(path));
    if (conflicts.length > 0) throw applyConflictError(conflicts);
    return applyConfiguration(kind, writer, before, config, managers, true);
  }
}

const lastAppliedAnnotation = (naming: Naming): string =>
  naming.label('kubectl.orchestrator.io/last-applied-configuration');

const lastAppliedFields = ({ naming }: Context, kind: ManagedKind, object: ApiObject): FieldSet =>
  unchangedLastApplied(kind.version(kind.apiVersion)!.shape, object, lastAppliedAnnotation(naming));

/**
 * Updates the annotation with the last applied configuration, for clients that still use client-side apply. Removes it
 * where the annotations would become too large.
 */
function keepLastApplied(naming: Naming, request: AuthorizedRequest, object: ApiObject, config: Members): void {
  const { annotations } = object.metadata;
  const name = lastAppliedAnnotation(naming);
  if (managerOf(request) !== LAST_APPLIED_MANAGER || annotations?.[name] === undefined) return;
  annotations[name] = lastAppliedText(config, name);
  const size = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (size > ANNOTATIONS_BYTES) delete annotations[name];
}

/** The configuration of the body, in CBOR, YAML or JSON. Throws 400 for another kind and for managedFields. */
function parseConfig(request: AuthorizedRequest, options: WriteOptions, apiVersion: string, kind: string): Members {
  const { value: parsed, duplicates } = parseApplied(request.job);
  const value = parsed ?? {};
  if (!isMembers(value))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: ${valueMismatch(value, 'map[string]interface {}')}`,
    );
  if (value['apiVersion'] !== apiVersion || value['kind'] !== kind)
    throw badRequest(`invalid object type: ${kindText(value['apiVersion'], value['kind'])}`);
  if (isMembers(value['metadata']) && value['metadata']['managedFields'] != null)
    throw badRequest('metadata.managedFields must be nil');
  reportStrictErrors(options.fieldValidation, duplicates, request.warnings, () =>
    badRequest(
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n' +
        duplicates.map(duplicate => `  ${duplicate}`).join('\n'),
    ),
  );
  return value;
}

/** The value of a configuration, as its media type says. */
function parseApplied({ contentType, body }: AuthorizedRequest['job']): Pick<StrictJson, 'value' | 'duplicates'> {
  if (contentType.split(';', 1)[0] !== APPLY_CBOR) return parseYamlOrJson(body!);
  try {
    return { value: decodeCbor(body!), duplicates: [] };
  } catch (error) {
    throw error instanceof UnreadableBody ? badRequest(`error decoding CBOR: ${error.syntaxError}`) : error;
  }
}

/** The parser of JSON is faster. Duplicate keys are reported as the parser of YAML finds them. */
function parseYamlOrJson(body: Uint8Array): Pick<StrictJson, 'value' | 'duplicates'> {
  if (body[0] !== 0x7b) return parseYaml(body);
  try {
    const parsed = parseStrict(body);
    return parsed.duplicates.length > 0 ? parseYaml(body) : parsed;
  } catch {
    return parseYaml(body);
  }
}

function parseYaml(body: Uint8Array): ReturnType<typeof decodeYamlStrict> {
  try {
    return decodeYamlStrict(body);
  } catch (error) {
    throw error instanceof UnreadableBody ? badRequest(`error decoding YAML: ${error.message}`) : error;
  }
}
