import type { ApiObject } from '../../../core/model/object.js';
import type { StrategyContext } from '../../../core/api/strategy.js';
import { replaceMembers } from '../../../core/model/record.js';
import { invalidObject, methodNotAllowed } from '../../../core/model/refusal.js';
import type { FieldManagers } from '../../../core/schema/apply/fieldManagers.js';
import { deepCopy } from '../../../core/schema/patch/members.js';
import { checkCreatePermission } from '../stages/access.js';
import { type Context, strategyContextOf } from '../context.js';
import { createObject } from './create.js';
import { notFoundError } from '../errors.js';
import { managersOfScaled, managersOfUpdated, setManagers } from '../stages/managers.js';
import { dropRepeatedOwners } from '../stages/metadata.js';
import { checkIfMatch, checkUid, checkVersion, parseVersion } from '../stages/preconditions.js';
import { isScale, replaceScale, scaleOf } from '../subresources/scale.js';
import type { AuthorizedRequest, DecodedObject, ObjectWrite } from '../types.js';
import { statusPart } from '../subresources/status.js';
import { currentObject } from '../answers/versions.js';
import type { WrittenPart } from '../subresources/writtenPart.js';

/**
 * PUT: replaces an object or the fields of one of its subresources; creates the object if its kind allows that. Throws
 * 403 for a create that the sender may not make, 404, and 409 for another uid or version than the current one.
 */
export async function update(context: Context, { request, options, object }: DecodedObject): Promise<ObjectWrite> {
  const { resource, route } = request;
  const { dryRun } = options;
  const old = await currentObject(context, request);
  if (!old) {
    checkUid(request, dryRun, object, undefined);
    if (!resource.strategy.allowCreateOnUpdate || route.subresource) throw notFoundError(request);
    await checkCreatePermission(context, request);
    // Without a current object there is no version to compare with; it only has to be well-formed.
    parseVersion(object);
    delete object.metadata.resourceVersion;
    return createObject(context, request, dryRun, object);
  }
  if (isScale(route)) {
    const managers = managersOfScaled(context, request, old, scaleOf(resource, old, true), object);
    return replaceScale(context, request, dryRun, object, old, managers);
  }
  checkUid(request, dryRun, object, old);
  return replaceObject(context, request, dryRun, object, old);
}

/**
 * The write that replaces `old` by `object`, or the part of it that belongs to the subresource. `managers`: the owners
 * of its fields, if an apply has computed them. Throws 409 for another version than the current one.
 */
export async function replaceObject(
  context: Context,
  request: AuthorizedRequest,
  dryRun: boolean,
  object: ApiObject,
  old: ApiObject,
  managers?: FieldManagers,
): Promise<ObjectWrite> {
  const { route, target, warnings } = request;
  const version = checkVersion(request, object, old);
  checkIfMatch(request, old);
  if (target.verb === 'update') dropRepeatedOwners(object, warnings, false);
  // Ownership is computed from the whole object as it was sent; for a subresource, from its part, as the rest of the
  // body is ignored.
  const known = managers ?? (route.subresource ? undefined : await managersOfUpdated(context, request, object, old));
  const strategyContext = strategyContextOf(context, request, dryRun);
  const partOf = PARTS.get(route.subresource?.name) ?? partOfSubresource;
  const { owned, prepare, violations } = partOf(request, object, old, strategyContext);
  const managedFields = setManagers(object, known ?? (await managersOfUpdated(context, request, owned, old)));
  return {
    is: 'object',
    request,
    dryRun,
    draft: object,
    old,
    managedFields,
    prepare,
    violations(updated) {
      requireVersion(request, version);
      return violations(updated);
    },
  };
}

/** A write of the object itself: the current status is kept. */
function wholeObject(
  { resource }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  strategyContext: StrategyContext,
): WrittenPart {
  const { strategy } = resource;
  return {
    owned: object,
    prepare(updated) {
      if (strategy.hasStatus) {
        if (old['status'] === undefined) delete updated['status'];
        else updated['status'] = deepCopy(old['status']);
      }
      strategy.prepareUpdate(updated, deepCopy(old), strategyContext);
    },
    violations: updated => strategy.validateUpdate(updated, old, strategyContext),
  };
}

/** A write of any other subresource: the kind's strategy makes the change. Throws 405 if it does not support that. */
function partOfSubresource(
  { resource, route, target }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  strategyContext: StrategyContext,
): WrittenPart {
  const { name } = route.subresource!;
  const change = resource.strategy.subresources?.get(name);
  if (!change) throw methodNotAllowed(`${target.verb} is not supported on ${resource.plural}/${name} by this server`);
  return {
    owned: change(object, deepCopy(old), strategyContext),
    prepare: updated => replaceMembers(updated, change({ ...updated }, deepCopy(old), strategyContext)),
    violations: () => [],
  };
}

/** By subresource, undefined for the object itself. */
const PARTS = new Map([
  [undefined, wholeObject],
  ['status', statusPart],
]);

/** Throws 422 for an update without a resourceVersion, or a patch that removes it, where the kind needs one. */
function requireVersion({ resource, target }: AuthorizedRequest, version: number): void {
  if (version || resource.strategy.allowUnconditionalUpdate) return;
  throw invalidObject(resource.group, resource.plural, target.name, [
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      message: 'Invalid value: 0x0: must be specified for an update',
    },
  ]);
}
