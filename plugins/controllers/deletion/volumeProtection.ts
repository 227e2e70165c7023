import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kinds/v1.js';
import {
  type ApiObject,
  type Controller,
  controller,
  type CurrentObjects,
  type Frozen,
  type Host,
  type KeyOf,
  type Plugin,
  reconciler,
  type ResourceEvent,
  type Watched,
} from '../../../core/api/index.js';
import { unlessRefused } from '../requests.js';

const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';
const PODS = 'core/pods';

/** The names of the claims of a pod, including those of its ephemeral volumes. */
const claimsOf = (pod: Frozen<Pod>): string[] =>
  (pod.spec.volumes ?? []).flatMap(volume => {
    if (volume.persistentVolumeClaim) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [];
  });

/** Whether a pod has been shut down, or is deleted without grace period. */
const isShutDown = ({ metadata }: Frozen<ApiObject>): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/**
 * Whether a pod, running or terminated, may have the claim mounted. A pod without a node has not mounted it, and cannot
 * start with a claim that is being deleted. The claim of an ephemeral volume counts only if the pod owns it and is not
 * shut down.
 */
function isMounted(pod: Frozen<Pod>, { metadata: { name, ownerReferences = [] } }: Frozen<ApiObject>): boolean {
  const { nodeName, volumes = [] } = pod.spec;
  if (!nodeName) return false;
  const isOwned = ownerReferences.some(({ controller: controls, uid }) => controls && uid === pod.metadata.uid);
  return volumes.some(volume =>
    volume.persistentVolumeClaim
      ? volume.persistentVolumeClaim.claimName === name
      : volume.ephemeral && isOwned && !isShutDown(pod) && name === `${pod.metadata.name}-${volume.name}`,
  );
}

/** Objects with a protection finalizer. */
interface Protected {
  readonly storageName: typeof CLAIMS | typeof VOLUMES;
  /** The name of the controller and of its service account. */
  readonly controller: string;
  /** In neutral names. */
  readonly finalizer: string;
}

const CLAIM_PROTECTION: Protected = {
  storageName: CLAIMS,
  controller: 'pvc-protection-controller',
  finalizer: 'orchestrator.io/pvc-protection',
};
const VOLUME_PROTECTION: Protected = {
  storageName: VOLUMES,
  controller: 'pv-protection-controller',
  finalizer: 'orchestrator.io/pv-protection',
};

/** Whether a deleted object still has to be kept: a volume that is bound, a claim that a pod uses. */
function isUsed(
  object: Frozen<PersistentVolume | PersistentVolumeClaim>,
  { storageName }: Protected,
  { list }: CurrentObjects,
): boolean {
  if (storageName === VOLUMES) return object.status?.phase === 'Bound';
  return list(PODS, object.metadata.namespace).some(pod => isMounted(pod, object));
}

/** The claims of a pod that it may have ceased to use. */
function releasedClaims({ type, namespace, mentions, object }: ResourceEvent<Pod>): KeyOf[] {
  if (type !== 'DELETED' && mentions?.('"deletionTimestamp"') === false) return [];
  if (mentions && !mentions('persistentVolumeClaim') && !mentions('ephemeral')) return [];
  const pod = object();
  return type === 'DELETED' || isShutDown(pod) ? claimsOf(pod).map(name => ({ namespace, name })) : [];
}

const PODS_OF_CLAIMS: readonly Watched<typeof PODS>[] = [{ resource: PODS, keys: releasedClaims }];

/**
 * Removes the protection finalizer from deleted claims that no pod uses, or from deleted volumes that are not bound,
 * and adds it to others that have lost it.
 */
function protect(host: Host<'control'>, kind: Protected): Controller {
  const finalizer = host.naming.label(kind.finalizer);
  const ending = finalizer.slice(finalizer.indexOf('/'));
  return reconciler({
    name: kind.controller,
    for: kind.storageName,
    predicate: ({ type, mentions }) =>
      type !== 'DELETED' && (mentions?.(ending) !== true || mentions('deletionTimestamp')),
    watches: kind.storageName === CLAIMS ? PODS_OF_CLAIMS : [],
    concurrency: 4,
    async reconcile(_key, { object, client, ...objects }) {
      if (!object) return;
      const { finalizers = [], deletionTimestamp } = object.metadata;
      const isProtected = finalizers.includes(finalizer);
      const isKept = deletionTimestamp ? isProtected && isUsed(object, kind, objects) : true;
      if (isKept === isProtected) return;
      const kept = isKept ? [...finalizers, finalizer] : finalizers.filter(other => other !== finalizer);
      const metadata = { ...object.metadata, finalizers: kept.length > 0 ? kept : undefined };
      // An update: the role of the controller has no patch.
      await unlessRefused('NotFound', client.resource(kind.storageName).replace({ ...object, metadata }));
    },
  })(host);
}

const protectionOf = (name: string, kind: Protected) =>
  ({
    name,
    parse: () => ({}),
    contribute: () => [controller.of(host => protect(host, kind))],
  }) satisfies Plugin;

/** Protection of claims: keeps the finalizer on all of them until they are deleted and no pod uses them. */
export const claimProtection = protectionOf('controllers/claim-protection', CLAIM_PROTECTION);

/** Protection of volumes: keeps the finalizer on all of them until they are deleted and not bound. */
export const volumeProtection = protectionOf('controllers/volume-protection', VOLUME_PROTECTION);
