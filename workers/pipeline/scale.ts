import type { ApiObject, Frozen } from '../../core/model/object.js';
import { conflict, invalidObject, Refusal, unknownPath } from '../../core/model/refusal.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { isMembers, memberOf, type Members, reach, setMember } from '../../core/schema/patch/members.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Answer } from './answer.js';
import { type AppliedWrite, appliedToScale, ownersThrough, setOwners, settledEntries } from './apply.js';
import { decodePatched, decodeSubresource } from './body.js';
import { type Context, type Permitted, rulesOf } from './context.js';
import type { WriteOptions } from './options.js';
import { type PatchType, patched } from './patch.js';
import { contentChanged } from './metadata.js';
import {
  absent,
  changeOf,
  checkName,
  checkNamespace,
  currentVersion,
  inRequestVersion,
  propose,
  refuseInvalid,
} from './write.js';
import { shape } from './render.js';

/**
 * The scale of an object: desired and actual replicas and the selector, under the object's own metadata (autoscaling/v1
 * Scale).
 */
export function scaleOf(resource: Resource, object: ApiObject, lenient = false): ApiObject {
  const { scale } = resource.strategy;
  if (!scale) throw unknownPath();
  if (scale.absentMessage && !lenient && reach(object, scale.spec) === undefined)
    throw new Refusal('InternalError', `Internal error occurred: ${scale.absentMessage}`, {
      causes: [{ message: scale.absentMessage }],
    });
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const desired = Number(reach(object, scale.spec) ?? 0);
  const selector = scale.selector(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: desired ? { replicas: desired } : {},
    status: { replicas: Number(reach(object, scale.status) ?? 0), ...(selector ? { selector } : {}) },
  };
}

/** PUT or PATCH of a scale: changes the object's desired replicas and nothing else. */
export async function updateScale(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  type: PatchType | undefined,
): Promise<Answer> {
  const { resource, job, target } = permitted;
  if (!job.current) throw absent(permitted);
  const old = inRequestVersion(resource, decodeStored(job.current.bytes));
  const before = scaleOf(resource, old, true);
  const { object: body, owners } = written(context, permitted, options, type, old, before);
  const { metadata } = body;
  checkName(permitted, body);
  checkNamespace(permitted, body);
  const names = { group: resource.group, resource: resource.plural };
  if (metadata.uid && metadata.uid !== old.metadata.uid) {
    // What a patch led to is compared with the object by the scale itself, what was sent whole already by the store.
    throw conflict(
      type && resource.builtIn ? { ...names, resource: `${resource.plural}/scale` } : names,
      target.name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  currentVersion(permitted, body);
  const replicas = Number(reach(body, ['spec', 'replicas']) ?? 0);
  if (replicas < 0 && resource.builtIn) {
    throw invalidObject('autoscaling', 'Scale', target.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.replicas',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
      },
    ]);
  }
  const object = withReplicas(structuredClone(old), resource.strategy.scale!.spec, replicas);
  setOwners(object, owners);
  const change = changeOf(permitted, 'UPDATE', options.dryRun, target.name, old);
  await context.mutate(change, object);
  resource.strategy.prepareUpdate(object, old, rulesOf(context, permitted, options.dryRun));
  if (resource.custom)
    refuseInvalid(
      resource,
      target.name,
      resource.strategy.validateUpdate(object, old, rulesOf(context, permitted, options.dryRun)),
    );
  const changed = contentChanged(object, old);
  // Validators get the object as it will be stored, and frozen.
  if (changed && resource.strategy.hasGeneration) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  refuseInvalid(resource, target.name, await context.validate(change, object as Frozen<ApiObject>));
  if (!changed && settledEntries(object, old) === old.metadata.managedFields)
    return await shape(context, permitted, old, 200, permitted.warnings);
  return await propose(context, permitted, object, {
    status: 200,
    dryRun: options.dryRun,
    expect: job.current.revision,
  });
}

/** The scale that the request asks for, with the managers of the object after it. */
function written(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  type: PatchType | undefined,
  old: ApiObject,
  before: ApiObject,
): AppliedWrite {
  const { resource, job, route } = permitted;
  // A patch sees a count of none, which the scale itself leaves out.
  const full = { ...before, spec: { replicas: Number(reach(old, resource.strategy.scale!.spec) ?? 0) } };
  if (type === 'apply') return appliedToScale(context, permitted, options, old, full);
  const struct = route.subresource!.type!;
  const object = type
    ? decodePatched(
        permitted,
        options,
        patched(type, full, job.body!, struct, permitted, context, options),
        struct,
        type === 'strategic',
      )
    : decodeSubresource(context, permitted, options, job.body!);
  return { object, owners: ownersThrough(context, permitted, old, before, object) };
}

/**
 * Sets the count in place; the path of a custom kind may name members as those of every object. Throws a 500 where a
 * value has no members.
 */
function withReplicas(object: ApiObject, path: readonly string[], replicas: number): ApiObject {
  let at = object as unknown as Members;
  for (const [i, name] of path.slice(0, -1).entries()) {
    const below = memberOf(at, name) ?? {};
    if (!isMembers(below)) {
      const where = path.slice(0, i + 1).join('.');
      throw new Refusal(
        'InternalError',
        `Internal error occurred: .${where} is no object that could hold the replicas`,
      );
    }
    setMember(at, name, below);
    at = below;
  }
  setMember(at, path.at(-1)!, replicas);
  return object;
}
