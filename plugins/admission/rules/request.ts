import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { User } from '../../../core/model/user.js';
import type { UnknownRecord } from '../../../core/model/record.js';

/** A user as an object (authentication/v1 UserInfo), without empty members. */
const userInfo = ({ name, uid, groups, extra }: User): UnknownRecord => ({
  ...(name ? { username: name } : {}),
  ...(uid ? { uid } : {}),
  ...(groups.length > 0 ? { groups } : {}),
  ...(extra.size > 0 ? { extra: Object.fromEntries(extra) } : {}),
});

/** The namespace of a change; that of a Namespace, even of a new one, is itself. */
export const namespaceOf = ({ target, view }: Change): string =>
  target.namespace || (target.group === '' && target.resource === 'namespaces' ? view.name : '');

/** The attributes of a change as an AdmissionRequest without uid and objects; `matched`: the version of its rules. */
export function admissionRequest(change: Change, matched: ServedKind): UnknownRecord {
  const { view, operation, dryRun, user } = change;
  const { subresource } = view;
  const namespace = namespaceOf(change);
  return {
    kind: matched.kind,
    resource: matched.resource,
    ...(subresource ? { subResource: subresource } : {}),
    requestKind: view.kind,
    requestResource: view.resource,
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(view.name ? { name: view.name } : {}),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: userInfo(user),
    dryRun,
    options: view.options(),
  };
}
