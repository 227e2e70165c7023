import type { ApiObject } from '../../core/model/object.js';
import type { StrategyContext } from '../../core/api/strategy.js';
import { invalidObject, methodNotAllowed } from '../../core/model/refusal.js';
import type { FieldManagers } from '../../core/schema/apply/fieldManagers.js';
import { deepCopy } from '../../core/schema/patch/members.js';
import { checkCreatePermission } from './access.js';
import { type Context, strategyContext } from './context.js';
import { createObject } from './create.js';
import { notFoundError } from './errors.js';
import { managersOfScaled, managersOfUpdated, setManagers } from './managers.js';
import { dropRepeatedOwners, keepSystemMetadata } from './metadata.js';
import { checkIfMatch, checkUid, checkVersion, parseVersion } from './preconditions.js';
import { isScale, replaceScale, scaleOf } from './scale.js';
import type { AuthorizedRequest, DecodedObject, MergedDraft, ObjectWrite } from './stages.js';
import { mergeStatus } from './status.js';
import { currentObject } from './versions.js';

/**
 * PUT: replaces an object or what one of its subresources holds; creates the object if its kind is created so. Throws
 * 403 for a create that the sender may not make, 404, and 409 for another uid or version than the current one.
 */
export async function update(context: Context, { request, options, object }: DecodedObject): Promise<ObjectWrite> {
  const { resource, route, target, user } = request;
  const { dryRun } = options;
  const old = currentObject(request);
  if (!old) {
    if (!resource.strategy.allowCreateOnUpdate || route.subresource) throw notFoundError(request);
    checkUid(request, object, undefined);
    await checkCreatePermission(context, user, target);
    // There is no current version to compare this one with: it must only be one.
    parseVersion(object);
    delete object.metadata.resourceVersion;
    return createObject(context, request, dryRun, object);
  }
  if (isScale(route)) {
    const managers = managersOfScaled(context, request, old, scaleOf(resource, old, true), object);
    return replaceScale(context, request, dryRun, object, old, managers);
  }
  checkUid(request, object, old);
  return replaceObject(context, request, dryRun, object, old);
}

/**
 * The write that replaces `old` by `object`, or by what a subresource lets through of it. `managers`: who owns its
 * fields then, where an apply has found that out. Throws 409 for another version than the current one.
 */
export function replaceObject(
  context: Context,
  request: AuthorizedRequest,
  dryRun: boolean,
  object: ApiObject,
  old: ApiObject,
  managers?: FieldManagers,
): ObjectWrite {
  const { route, warnings } = request;
  const version = checkVersion(request, object);
  checkIfMatch(request);
  dropRepeatedOwners(object, warnings, false);
  // An object is owned as it was sent. Of the body of a subresource only that counts which comes through.
  const known = managers ?? (route.subresource ? undefined : managersOfUpdated(context, request, object, old));
  keepSystemMetadata(object, old);
  const about = strategyContext(context, request, dryRun);
  const mergePart = MERGES.get(route.subresource?.name) ?? mergeSubresource;
  const { draft, prepare, violations } = mergePart(request, object, old, about);
  const managedFields = setManagers(draft, known ?? managersOfUpdated(context, request, draft, old));
  return {
    is: 'object',
    request,
    dryRun,
    draft,
    old,
    managedFields,
    prepare,
    violations(updated) {
      requireVersion(request, version);
      return violations(updated);
    },
  };
}

/** A write of the object itself keeps its status. */
function mergeObject(
  { resource }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  about: StrategyContext,
): MergedDraft {
  const { strategy } = resource;
  if (strategy.hasStatus) {
    if (old['status'] === undefined) delete object['status'];
    else object['status'] = deepCopy(old['status']);
  }
  return {
    draft: object,
    prepare: updated => strategy.prepareUpdate(updated, deepCopy(old), about),
    violations: updated => strategy.validateUpdate(updated, old, about),
  };
}

/** What a write of another subresource changes is for the kind to say. Throws 405 where it says nothing. */
function mergeSubresource(
  { resource, route, target }: AuthorizedRequest,
  object: ApiObject,
  old: ApiObject,
  about: StrategyContext,
): MergedDraft {
  const { name } = route.subresource!;
  const change = resource.strategy.subresources?.get(name);
  if (!change) throw methodNotAllowed(`${target.verb} is not supported on ${resource.plural}/${name} by this server`);
  return { draft: change(object, deepCopy(old), about), prepare: () => undefined, violations: () => [] };
}

/** By subresource, undefined for the object itself. */
const MERGES = new Map([
  [undefined, mergeObject],
  ['status', mergeStatus],
]);

/** Throws 422 for a PUT without a resourceVersion, for kinds that do not accept that. */
function requireVersion({ resource, target }: AuthorizedRequest, version: number): void {
  if (version || resource.strategy.allowUnconditionalUpdate || target.verb !== 'update') return;
  throw invalidObject(resource.group, resource.plural, target.name, [
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      message: 'Invalid value: 0x0: must be specified for an update',
    },
  ]);
}
