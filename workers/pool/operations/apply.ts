import { ANNOTATIONS_BYTES } from '../../../core/limits.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { parseFlag } from '../../../core/request/query.js';
import { applyConfiguration, type ApplyResult, LiveMismatch } from '../../../core/schema/apply/applyConfiguration.js';
import { type FieldManagers, decodeManagers } from '../../../core/schema/apply/fieldManagers.js';
import { type FieldSet, LEAF, pathTexts } from '../../../core/schema/apply/fieldSet.js';
import { unchangedLastApplied, LAST_APPLIED_MANAGER, lastAppliedText } from '../../../core/schema/apply/lastApplied.js';
import type { ManagedKind } from '../../../core/schema/apply/managedKind.js';
import { ApplyConflict, SchemaMismatch } from '../../../core/schema/apply/ownership.js';
import { scaleManagers, managersAfterScale } from '../../../core/schema/apply/scale.js';
import { deepCopy, type Members } from '../../../core/schema/patch/members.js';
import { computeWith } from '../answers/conversion.js';
import { currentObject } from '../answers/versions.js';
import { parseConfiguration } from '../body/configuration.js';
import type { Context } from '../context.js';
import { conflictError, notFoundError } from '../errors.js';
import { checkCreatePermission } from '../stages/access.js';
import { decodePatched } from '../stages/decode.js';
import { kindOf, managerOf, replicasField, scaleKind, writerOf } from '../stages/managers.js';
import { checkName, ensureNamespace } from '../stages/preconditions.js';
import { isScale, replaceScale, scaleWithReplicas } from '../subresources/scale.js';
import type { AuthorizedRequest, DecodedApply, ObjectWrite } from '../types.js';
import { applyConflictError, notApplicableError, notManageableError } from './applyErrors.js';
import { createObject } from './create.js';
import { replaceObject } from './update.js';

/** The base of an apply: the current object, the one to create, or the scale of an object. */
interface Basis {
  /** The kind, in the version that the configuration must have. */
  readonly kind: ManagedKind;
  readonly kindName: string;
  /** Absent: the apply creates the object. */
  readonly before: ApiObject | undefined;
  readonly managers: FieldManagers;
}

/**
 * PATCH that applies a configuration: creates the object or updates it (spec, "Updates: server-side apply"). Throws 404
 * for a subresource of an object that does not exist, and 400, 403, 409 and 422.
 */
export async function apply(context: Context, { request, options }: DecodedApply): Promise<ObjectWrite> {
  const { resource, route } = request;
  const { dryRun } = options;

  // The object, or its scale, to which the configuration is applied.
  const old = await currentObject(context, request);
  if (!old && route.subresource) throw notFoundError(request);
  if (!old) await checkCreatePermission(context, request);
  const scaled = isScale(route) ? old : undefined;
  const basis = scaled ? scaleBasis(request, scaled) : objectBasis(context, request, old);

  // The configuration, and the merge: its values, and who owns which field then.
  const config = parseConfiguration(request, options, basis.kind.apiVersion, basis.kindName);
  const merged = await computeWith(context, resource, basis.kind, kind =>
    mergeConfiguration(context, request, kind, basis, config),
  );

  // The result, as an object of the kind. An unchanged object gets no defaults: those of a version that is not stored
  // would change it with every apply.
  if (scaled) {
    const scale = decodePatched(context, request, options, merged.object, route.subresource!.type);
    return replaceScale(context, request, dryRun, scale, scaled, managersOfObject(request, scaled, merged.managers));
  }
  const object =
    merged.isUnchanged && old
      ? deepCopy(old)
      : decodePatched(context, request, options, merged.object, undefined, 'apply');
  // An apply of the status does not change annotations of the object.
  if (!route.subresource) keepLastApplied(context.naming, request, object, config);
  checkName(request, object);
  ensureNamespace(request, object);

  // The write that stores it.
  if (old) return replaceObject(context, request, dryRun, object, old, merged.managers);
  const { uid } = object.metadata;
  if (uid)
    throw conflictError(
      request,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  // Without a current object there is no version to compare with.
  delete object.metadata.resourceVersion;
  return createObject(context, request, dryRun, object, merged.managers);
}

const objectBasis = (context: Context, request: AuthorizedRequest, before: ApiObject | undefined): Basis => ({
  kind: kindOf(context, request),
  kindName: request.resource.kind,
  before,
  managers: decodeManagers(before?.metadata.managedFields),
});

/** The scale of an object. Whoever owns the replicas of the object owns those of the scale. */
const scaleBasis = (request: AuthorizedRequest, object: ApiObject): Basis => ({
  kind: scaleKind(request),
  kindName: 'Scale',
  before: scaleWithReplicas(request.resource, object),
  managers: scaleManagers(decodeManagers(object.metadata.managedFields), replicasField(request)),
});

/** The managers of an object, from those of its scale after an apply. */
const managersOfObject = (request: AuthorizedRequest, object: ApiObject, ofScale: FieldManagers): FieldManagers =>
  managersAfterScale(
    decodeManagers(object.metadata.managedFields),
    ofScale,
    replicasField(request),
    request.resource.apiVersion,
  );

/**
 * Merges a configuration into an object. `kind` is that of the basis; its conversions include those by webhooks. Throws
 * 409 for conflicts, and 422 for a configuration that cannot be merged.
 */
function mergeConfiguration(
  context: Context,
  request: AuthorizedRequest,
  kind: ManagedKind,
  { before: old, managers }: Basis,
  config: Members,
): ApplyResult {
  const writer = writerOf(context, request);
  const before = old as unknown as Json | undefined;
  const force = parseFlag(request.route.query, 'force');
  try {
    return applyConfiguration(kind, writer, before, config, managers, force);
  } catch (thrown) {
    if (thrown instanceof LiveMismatch) throw notManageableError(config, thrown.message);
    if (thrown instanceof SchemaMismatch) throw notApplicableError(config, thrown.message);
    if (!(thrown instanceof ApplyConflict)) throw thrown;
    // Fields that kubectl has set by client-side apply do not conflict: it takes over their ownership.
    const own = old && writer.manager === LAST_APPLIED_MANAGER ? lastAppliedFields(context, kind, old) : LEAF;
    const ownPaths = new Set(pathTexts(own));
    const conflicts = thrown.conflicts.filter(({ path }) => !ownPaths.has(path));
    if (conflicts.length > 0) {
      request.trail.conflict(conflicts);
      throw applyConflictError(conflicts);
    }
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
