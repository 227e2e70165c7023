import type { PersistentVolume, Pod } from '../../../kinds/v1.js';
import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type Informer,
  type Plugin,
  type ResourceEvent,
} from '../../../core/api/index.js';
import { pathOf } from '../catalog.js';
import { WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';

const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';
const PODS = 'core/pods';

/** The names of the claims of a pod, including those of its ephemeral volumes. */
const claimsOf = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap(volume => {
    if (volume.persistentVolumeClaim) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [];
  });

/** Whether a pod has been shut down, or is deleted without grace period. */
const isShutDown = ({ metadata }: ApiObject): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/**
 * Whether a pod, running or terminated, may have the claim mounted. A pod without a node has not, and cannot start with
 * a claim that is being deleted. The claim of an ephemeral volume counts only if the pod owns it and is not shut down.
 */
function isMounted(pod: Pod, { metadata: { name, ownerReferences = [] } }: ApiObject): boolean {
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

/**
 * Removes the protection finalizer from deleted claims that no pod uses, or from deleted volumes that are not bound,
 * and adds it to others that have lost it.
 */
class Protection implements Controller {
  readonly name: string;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(
    readonly host: Host<'control'>,
    readonly kind: Protected,
  ) {
    const { controller: name } = kind;
    this.name = name;
    this.#requests = new Requests(host, name);
    this.#queue = new WorkQueue({ name, log: host.log, workers: 4, handle: key => this.#updateFinalizer(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    const { storageName, namespace, name, type } = event;
    if (storageName === this.kind.storageName && type !== 'DELETED') {
      const isProtected = event.mentions?.(this.kind.finalizer.slice(this.kind.finalizer.indexOf('/'))) !== false;
      if (!isProtected || event.mentions?.('deletionTimestamp') !== false) this.#queue.add(`${namespace}|${name}`);
    } else if (storageName === PODS && this.kind.storageName === CLAIMS) {
      if (type !== 'DELETED' && event.mentions?.('"deletionTimestamp"') === false) return;
      if (event.mentions && !event.mentions('persistentVolumeClaim') && !event.mentions('ephemeral')) return;
      const pod = event.object() as Pod;
      if (type === 'DELETED' || isShutDown(pod))
        for (const claim of claimsOf(pod)) this.#queue.add(`${namespace}|${claim}`);
    }
  }

  async #updateFinalizer(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('|');
    const object = this.host.informer(this.kind.storageName).get(namespace, name);
    if (!object) return;
    const finalizer = this.host.naming.label(this.kind.finalizer);
    const { finalizers = [], deletionTimestamp } = object.metadata;
    const isProtected = finalizers.includes(finalizer);
    if (!deletionTimestamp && !isProtected) await this.#setFinalizers(object, [...finalizers, finalizer]);
    if (deletionTimestamp && isProtected && !this.#isUsed(object))
      await this.#setFinalizers(
        object,
        finalizers.filter(other => other !== finalizer),
      );
  }

  async #setFinalizers(object: ApiObject, finalizers: string[]): Promise<void> {
    const { namespace = '', name = '' } = object.metadata;
    const { storageName } = this.kind;
    const plural = storageName.slice(storageName.indexOf('/') + 1);
    // An update: the role of the controller has no patch.
    await this.#requests.replace(pathOf({ apiVersion: 'v1', plural }, namespace, name), {
      ...object,
      apiVersion: 'v1',
      kind: storageName === CLAIMS ? 'PersistentVolumeClaim' : 'PersistentVolume',
      metadata: {
        ...object.metadata,
        finalizers: finalizers.length > 0 ? finalizers : undefined,
      },
    });
  }

  #isUsed(object: ApiObject): boolean {
    if (this.kind.storageName === VOLUMES) return (object as PersistentVolume).status?.phase === 'Bound';
    const pods = this.host.informer(PODS) as Informer<Pod>;
    return pods.list(object.metadata.namespace).some(pod => isMounted(pod, object));
  }
}

const protectionOf = (name: string, kind: Protected) =>
  ({
    name,
    parse: () => ({}),
    contribute: () => [controller.of(host => new Protection(host, kind))],
  }) satisfies Plugin;

/** Protection of claims: keeps the finalizer on all of them until they are deleted and no pod uses them. */
export const claimProtection = protectionOf('controllers/claim-protection', CLAIM_PROTECTION);

/** Protection of volumes: keeps the finalizer on all of them until they are deleted and not bound. */
export const volumeProtection = protectionOf('controllers/volume-protection', VOLUME_PROTECTION);
