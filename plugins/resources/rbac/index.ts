import type { Strategy } from '../../../core/api/strategy.js';
import type { Naming } from '../../../core/naming.js';
import { segmentName } from '../naming-rules.js';
import { at, fill, list, same } from '../record.js';
import type { KindTable } from '../strategies.js';
import { invalid } from '../../../core/model/refusal.js';

const GROUP = 'rbac.authorization.orchestrator.io';

const role = (): Partial<Strategy> => ({ checkName: segmentName, createOnUpdate: true });

const binding = (naming: Naming): Partial<Strategy> => ({
  checkName: segmentName,
  createOnUpdate: true,
  validateUpdate: (object, old) =>
    same(object.roleRef, old.roleRef) ? [] : [invalid('roleRef', object.roleRef, 'cannot change roleRef')],
  defaults: object => {
    const reference = at(object, 'roleRef');
    if (reference) fill(reference, 'apiGroup', naming.group(GROUP));
    for (const subject of list(object, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, 'apiGroup', naming.group(GROUP));
    }
  },
});

/** Kinds of role-based access control. */
export const rbacKinds: KindTable = {
  [`${GROUP}/clusterrolebindings`]: binding,
  [`${GROUP}/clusterroles`]: role,
  [`${GROUP}/rolebindings`]: binding,
  [`${GROUP}/roles`]: role,
};
