import { type Frozen, isSemanticallyEqual } from '../../../../core/api/index.js';
import type { ResourceSlice } from '../../../../kinds/resource/v1beta1.js';
import type { PersistentVolumeClaim } from '../../../../kinds/v1.js';
import { forbid, nameOf, type Restriction } from './forbid.js';

/** The lease with the name of the node, in the namespace for such leases. */
export const restrictLease =
  (namespace: string): Restriction =>
  restricted => {
    if (restricted.change.target.namespace !== namespace)
      forbid(restricted, `can only access leases in the ${JSON.stringify(namespace)} system namespace`);
    if (nameOf(restricted) !== restricted.node)
      forbid(restricted, 'can only access node lease with the same name as the requesting node');
  };

/** The CSINode with the name of the node. */
export const restrictCsiNode: Restriction = restricted => {
  if (nameOf(restricted) !== restricted.node)
    forbid(restricted, 'can only access CSINode with the same name as the requesting node');
};

/** The resource slices of the node. */
export const restrictSlice: Restriction = restricted => {
  const { change, object, node } = restricted;
  const [slice, old] = [object, change.old] as readonly (Frozen<ResourceSlice> | undefined)[];
  const isOwn = (one: Frozen<ResourceSlice> | undefined): boolean => one?.spec.nodeName === node;
  const verb = change.operation.toLowerCase();
  if (!isOwn(slice ?? old) || (old && !isOwn(old)))
    forbid(restricted, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
};

/** The status fields of a claim that a node reports: its size, and the progress of a change of it. */
const REPORTED = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses'];

const withoutReported = ({ metadata, status, ...rest }: Frozen<PersistentVolumeClaim>): object => {
  const { managedFields: _fields, resourceVersion: _version, ...kept } = metadata;
  const unreported = Object.entries(status ?? {}).filter(([member]) => !REPORTED.includes(member));
  return { ...rest, metadata: kept, status: Object.fromEntries(unreported) };
};

/** The part of a claim's status that nodes report. */
export const restrictClaimStatus: Restriction = restricted => {
  const { change, object, node } = restricted;
  if (change.target.subresource !== 'status') forbid(restricted, 'may only update PVC status');
  const [claim, old] = [object as Frozen<PersistentVolumeClaim>, change.old as Frozen<PersistentVolumeClaim>];
  if (!isSemanticallyEqual(withoutReported(claim), withoutReported(old)))
    forbid(
      restricted,
      `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`,
    );
};
