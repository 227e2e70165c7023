import { type Change, validator, type Validator } from '../../../core/api/admission.js';
import { authorizer } from '../../../core/api/index.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject, Frozen, ObjectMeta } from '../../../core/model/object.js';
import { isSemanticallyEqual } from '../../../core/model/record.js';
import type { Refusal } from '../../../core/model/refusal.js';
import type { ResourceTarget } from '../../../core/model/target.js';

import { forbiddenError, parseNothing } from '../podDraft.js';

type Owner = NonNullable<Frozen<ObjectMeta>['ownerReferences']>[number];

const ownersOf = (object: Frozen<ApiObject> | undefined): readonly Owner[] => object?.metadata.ownerReferences ?? [];

/** The owners whose deletion an object begins to block. */
function newlyBlocked(change: Change, object: Frozen<ApiObject>): readonly Owner[] {
  const blockedOf = (holder: Frozen<ApiObject> | undefined): readonly Owner[] =>
    ownersOf(holder).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  const before = new Set(blockedOf(change.old).map(({ uid }) => uid));
  return blockedOf(object).filter(({ uid }) => !before.has(uid));
}

function permissions(host: Host<'pool'>): Validator {
  /** Returns why the sender may not make a request; undefined if it is allowed. */
  const denied = async ({ user }: Change, target: ResourceTarget): Promise<string | undefined> => {
    const { decision } = await host.at(authorizer).authorize(user, target);
    return decision.is === 'allow' ? undefined : (decision.reason ?? '');
  };
  const refuse = ({ target }: Change, object: Frozen<ApiObject>, why: string): Refusal =>
    forbiddenError(
      { group: host.naming.group(target.group), resource: target.resource },
      target.name || object.metadata.name || 'Unknown',
      why,
    );
  const checkBlocked = async (change: Change, object: Frozen<ApiObject>, owner: Owner): Promise<void> => {
    const { apiVersion, kind } = owner;
    const found = host.kinds.find(apiVersion, kind);
    if (!found)
      throw refuse(
        change,
        object,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} ` +
          `Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
      );
    const why = await denied(change, {
      is: 'resource',
      verb: 'update',
      group: host.kinds.neutralGroup(found.group),
      version: found.version,
      resource: found.resource,
      subresource: 'finalizers',
      namespace: found.namespaced ? change.target.namespace : '',
      name: owner.name,
      path: '',
    });
    if (why === undefined) return;
    const what = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    throw refuse(change, object, `${what}: ${why}, <nil>`);
  };
  return {
    on: { operations: ['CREATE', 'UPDATE'], subresources: ['*'] },
    async validate(change, after) {
      const { target, operation, old } = change;
      const isStatusOfPod = target.group === '' && target.resource === 'pods' && target.subresource === 'status';
      // The create of a subresource stores no object of its own.
      if (!after || isStatusOfPod || (operation === 'CREATE' && target.subresource !== '')) return [];
      if (isSemanticallyEqual(ownersOf(old), ownersOf(after))) return [];
      if (operation === 'UPDATE') {
        const why = await denied(change, { ...target, verb: 'delete' });
        if (why !== undefined)
          throw refuse(change, after, `cannot set an ownerRef on a resource you can't delete: ${why}, <nil>`);
      }
      for (const owner of newlyBlocked(change, after)) await checkBlocked(change, after, owner);
      return [];
    },
  };
}

/**
 * A user who changes the owners of an object must be able to delete it, since the deletion of its owners deletes it,
 * and a user who blocks the deletion of an owner must be able to write the finalizers of the owner.
 */
export default definePlugin<undefined>({
  name: 'owner-references-permission-enforcement',
  parse: parseNothing,
  contribute: () => [validator.of(permissions)],
}) satisfies Plugin<undefined>;
