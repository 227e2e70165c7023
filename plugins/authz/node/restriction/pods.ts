import { type Frozen, type Informer, isSemanticallyEqual, type Naming, notFound } from '../../../../core/api/index.js';
import type { Pod } from '../../../../kinds/v1.js';
import { podReferences } from '../podReferences.js';
import { forbid, type Restricted, type Restriction } from './forbid.js';

/** A change of a pod, whose draft and old object are pods. */
const podIn = ({ object }: Restricted): Frozen<Pod> | undefined => object as Frozen<Pod> | undefined;
const oldIn = ({ change }: Restricted): Frozen<Pod> | undefined => change.old as Frozen<Pod> | undefined;

const nodeOf = (pod: Frozen<Pod> | undefined): string => pod?.spec.nodeName ?? '';

/** The only owner of a mirror pod is its node. */
function checkOwner(restricted: Restricted, nodes: Informer): void {
  const { node } = restricted;
  const who = `node ${JSON.stringify(node)}`;
  const owners = podIn(restricted)?.metadata.ownerReferences ?? [];
  const [owner] = owners;
  const own = `can only create pods with an owner reference set to itself`;
  if (!owner) forbid(restricted, `${who} ${own}`);
  if (owners.length > 1) forbid(restricted, `${who} can only create pods with a single owner reference set to itself`);
  if (owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) forbid(restricted, `${who} ${own}`);
  if (owner.controller !== true)
    forbid(restricted, `${who} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true)
    forbid(restricted, `${who} must not set blockOwnerDeletion on an owner reference`);
  const registered = nodes.get('', node);
  if (!registered) throw notFound({ group: '', resource: 'node' }, node);
  const uid = registered.metadata.uid ?? '';
  if (owner.uid !== uid) forbid(restricted, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
}

/** Mirror pods refer to no other objects, to which they would give the node access. */
function checkReferences(restricted: Restricted): void {
  const { node } = restricted;
  const pod = podIn(restricted)!;
  const volumes = pod.spec.volumes ?? [];
  // Read as if it were not a mirror pod: the references of mirror pods are not gathered.
  const found = podReferences(pod, '');
  const refuse = (what: string): never =>
    forbid(restricted, `node ${JSON.stringify(node)} can not create pods that reference ${what}`);
  if (found.serviceAccount !== '') refuse('a service account');
  if (found.secrets.length > 0) refuse('secrets');
  const hasBundles = volumes.some(({ projected }) => projected?.sources?.some(source => source.clusterTrustBundle));
  if (found.configMaps.length > 0) refuse('configmaps');
  if (hasBundles) refuse('clustertrustbundles');
  if (volumes.some(volume => volume.persistentVolumeClaim)) refuse('persistentvolumeclaims');
  if ((pod.spec.resourceClaims ?? []).length > 0) refuse('resourceclaims');
}

function checkCreate(restricted: Restricted, nodes: Informer, mirror: string): void {
  const { object, node } = restricted;
  const who = `node ${JSON.stringify(node)}`;
  if (!Object.hasOwn(object?.metadata.annotations ?? {}, mirror))
    forbid(restricted, `pod does not have ${JSON.stringify(mirror)} annotation, ${who} can only create mirror pods`);
  if (nodeOf(podIn(restricted)) !== node)
    forbid(restricted, `${who} can only create pods with spec.nodeName set to itself`);
  checkOwner(restricted, nodes);
  checkReferences(restricted);
}

function checkStatus(restricted: Restricted): void {
  const { node } = restricted;
  const [pod, old] = [podIn(restricted), oldIn(restricted)];
  const who = `node ${JSON.stringify(node)}`;
  if (nodeOf(old) !== node)
    forbid(restricted, `${who} can only update pod status for pods with spec.nodeName set to itself`);
  if (!isSemanticallyEqual(pod?.metadata.labels, old?.metadata.labels))
    forbid(restricted, `${who} cannot update labels through pod status`);
  // The word is upstream's.
  if (!isSemanticallyEqual(pod?.status?.resourceClaimStatuses, old?.status?.resourceClaimStatuses))
    forbid(restricted, `${who} cannot update resource claim statues`);
}

/** A node may write mirror pods of its own, and the status, deletion and eviction of the pods that are bound to it. */
export function restrictPod(naming: Naming, nodes: Informer, pods: Informer): Restriction {
  const mirror = naming.label('orchestrator.io/config.mirror');
  return restricted => {
    const { change, node } = restricted;
    const { operation, target } = change;
    const who = `node ${JSON.stringify(node)}`;
    switch (target.subresource) {
      case '':
        if (operation === 'CREATE') return checkCreate(restricted, nodes, mirror);
        if (operation !== 'DELETE')
          forbid(
            restricted,
            `unexpected operation ${JSON.stringify(operation)}, ${who} can only create and delete mirror pods`,
          );
        if (nodeOf(oldIn(restricted)) !== node)
          forbid(restricted, `${who} can only delete pods with spec.nodeName set to itself`);
        return;
      case 'status':
        return checkStatus(restricted);
      case 'eviction': {
        const pod = pods.get(target.namespace, target.name);
        if (!pod) throw notFound({ group: '', resource: 'pod' }, target.name);
        if (nodeOf(pod as Frozen<Pod>) !== node)
          forbid(restricted, `node ${node} can only evict pods with spec.nodeName set to itself`);
        return;
      }
      default:
        forbid(
          restricted,
          `unexpected pod subresource ${JSON.stringify(target.subresource)}, only 'status' and 'eviction' are allowed`,
        );
    }
  };
}
