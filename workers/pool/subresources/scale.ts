import type { ApiObject, Json } from '../../../core/model/object.js';
import { replaceMembers } from '../../../core/model/record.js';
import { invalidObject, Refusal, unknownPath } from '../../../core/model/refusal.js';
import type { Route } from '../../../core/request/route.js';
import type { FieldManagers } from '../../../core/schema/apply/fieldManagers.js';
import { deepCopy, memberOf, type Members, reach, setMember } from '../../../core/schema/patch/members.js';
import type { Resource } from '../../../core/schema/resource.js';
import { type Context, strategyContextOf } from '../context.js';
import { groupResource } from '../errors.js';
import { setManagers } from '../stages/managers.js';
import { checkIfMatch, checkName, ensureNamespace, checkUid, checkVersion } from '../stages/preconditions.js';
import type { AuthorizedRequest, ObjectWrite } from '../types.js';

/** Whether a request is about the scale of an object. */
export const isScale = ({ subresource }: Route): boolean => subresource?.name === 'scale';

/** Stands for a count that a custom object does not have. Counts are not negative, so no count has this value. */
const NO_COUNT = -(2 ** 31);

/** Throws 500 for an object whose values are not counts where its scale has counts. */
function checkTypes({ strategy }: Resource, object: ApiObject): void {
  const wrong = strategy.scale?.messages?.wrongType(object);
  if (wrong) throw new Refusal('', wrong, undefined, 500);
}

/**
 * The scale of an object (autoscaling/v1): desired and actual replicas and the selector, with the metadata of the
 * object. Throws 500 where the object has other values than counts, and where the kind requires a count and the object
 * has none, unless `lenient`.
 */
export function scaleOf(resource: Resource, object: ApiObject, lenient = false): ApiObject {
  const { scale } = resource.strategy;
  if (!scale) throw unknownPath();
  checkTypes(resource, object);
  if (scale.messages && !lenient && reach(object, scale.spec) === undefined) {
    const message = scale.messages.absent;
    throw new Refusal('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
  }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = Number(reach(object, scale.spec) ?? 0);
  const selector = scale.selector(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: Number(reach(object, scale.status) ?? 0), ...(selector ? { selector } : {}) },
  };
}

/**
 * The scale that a patch is applied to: it always has `spec.replicas`. If the kind requires a count and the object has
 * none, `replaceScale` refuses the result of a patch that does not set it. Throws 500 like `scaleOf`.
 */
export function scaleWithReplicas(resource: Resource, object: ApiObject): ApiObject {
  const scale = scaleOf(resource, object, true);
  const { spec, messages } = resource.strategy.scale!;
  return { ...scale, spec: { replicas: Number(reach(object, spec) ?? (messages ? NO_COUNT : 0)) } };
}

/**
 * The write that sets the desired replicas of `old` to those of `scale` and changes nothing else. `managers`: who owns
 * the fields of the object then. Throws 400 and 409 for metadata that is not the object's, 422 for negative replicas,
 * and 500 for an object that has other values than counts.
 */
export function replaceScale(
  context: Context,
  request: AuthorizedRequest,
  dryRun: boolean,
  scale: ApiObject,
  old: ApiObject,
  managers: FieldManagers,
): ObjectWrite {
  const { resource, target } = request;
  const { strategy } = resource;
  checkName(request, scale);
  ensureNamespace(request, scale);
  const objectResource = groupResource(resource);
  // Upstream's refusal names the subresource for a patched scale, and the resource for one that was sent whole.
  const ofScale = target.verb === 'patch' && resource.builtIn;
  checkUid(
    request,
    dryRun,
    scale,
    old,
    ofScale ? { ...objectResource, resource: `${objectResource.resource}/scale` } : objectResource,
  );
  checkVersion(request, scale, old);
  checkIfMatch(request, old);
  checkTypes(resource, old);
  const replicas = Number(reach(scale, ['spec', 'replicas']) ?? 0);
  const { messages } = strategy.scale!;
  if (messages && replicas === NO_COUNT) throw new Refusal('BadRequest', messages.empty);
  if (replicas < 0 && resource.builtIn) {
    throw invalidObject('autoscaling', 'Scale', target.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.replicas',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
      },
    ]);
  }
  const draft = deepCopy(old);
  setReplicas(draft, strategy.scale!.spec, replicas);
  const strategyContext = strategyContextOf(context, request, dryRun);
  return {
    is: 'object',
    request,
    dryRun,
    draft,
    old,
    managedFields: setManagers(draft, managers),
    prepare(object) {
      // The schema of a custom kind may not have the field.
      if (resource.custom) replaceMembers(object, resource.custom.accept(object));
      strategy.prepareUpdate(object, deepCopy(old), strategyContext);
    },
    violations: object => strategy.validateUpdate(object, old, strategyContext),
  };
}

/**
 * Sets the replicas at the path, which in custom kinds may name any members, including those that every object
 * inherits. Values on the path have members: `scaleOf` has refused others.
 */
export function setReplicas(object: ApiObject, path: readonly string[], replicas: Json): void {
  let at = object as unknown as Members;
  for (const name of path.slice(0, -1)) {
    const below = (memberOf(at, name) ?? {}) as Members;
    setMember(at, name, below);
    at = below;
  }
  setMember(at, path.at(-1)!, replicas);
}
