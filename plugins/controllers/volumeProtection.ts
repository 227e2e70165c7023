import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type Plugin,
  type ResourceEvent,
} from '../../core/api/index.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAME = 'pvc-protection-controller';
const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';
const PODS = 'core/pods';

/** The parts of a pod that this controller uses. */
interface PodSpec {
  readonly nodeName?: string;
  readonly volumes?: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly ephemeral?: object;
  }[];
}

const specOf = (pod: ApiObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

/** The names of the claims of a pod, including those of its ephemeral volumes. */
const claimsOf = (pod: ApiObject): string[] =>
  (specOf(pod).volumes ?? []).flatMap(volume => {
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
function isMounted(pod: ApiObject, { metadata: { name, ownerReferences = [] } }: ApiObject): boolean {
  const { nodeName, volumes = [] } = specOf(pod);
  if (!nodeName) return false;
  const isOwned = ownerReferences.some(({ controller: controls, uid }) => controls && uid === pod.metadata.uid);
  return volumes.some(volume =>
    volume.persistentVolumeClaim
      ? volume.persistentVolumeClaim.claimName === name
      : volume.ephemeral && isOwned && !isShutDown(pod) && name === `${pod.metadata.name}-${volume.name}`,
  );
}

/**
 * Removes the protection finalizer from deleted claims that no pod uses, and from deleted volumes that are not bound.
 */
class VolumeProtection implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: key => this.#removeFinalizer(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    const { storageName, namespace, name, type } = event;
    if (storageName === PODS) {
      if (event.mentions && !event.mentions('persistentVolumeClaim') && !event.mentions('ephemeral')) return;
      const pod = event.object();
      if (type === 'DELETED' || isShutDown(pod))
        for (const claim of claimsOf(pod)) this.#queue.add(`${CLAIMS}|${namespace}|${claim}`);
    } else if ((storageName === CLAIMS || storageName === VOLUMES) && type !== 'DELETED') {
      if (event.mentions?.('deletionTimestamp') !== false) this.#queue.add(`${storageName}|${namespace}|${name}`);
    }
  }

  async #removeFinalizer(key: string): Promise<void> {
    const [storageName = '', namespace = '', name = ''] = key.split('|');
    const object = this.#host.informer(storageName).get(namespace, name);
    if (!object?.metadata.deletionTimestamp || this.#isUsed(storageName, object)) return;
    const claim = storageName === CLAIMS;
    const finalizer = this.#host.naming.label(`orchestrator.io/${claim ? 'pvc' : 'pv'}-protection`);
    const path = claim
      ? `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`
      : `/api/v1/persistentvolumes/${name}`;
    const { finalizers = [], resourceVersion, uid } = object.metadata;
    if (!finalizers.includes(finalizer)) return;
    const remaining = finalizers.filter(other => other !== finalizer);
    await this.#requests.merge(path, {
      metadata: { uid, resourceVersion, finalizers: remaining.length > 0 ? remaining : null },
    });
  }

  #isUsed(storageName: string, object: ApiObject): boolean {
    if (storageName === VOLUMES) return (object['status'] as { phase?: string } | undefined)?.phase === 'Bound';
    return this.#host
      .informer(PODS)
      .list(object.metadata.namespace)
      .some(pod => isMounted(pod, object));
  }
}

/** Protection of volumes and claims: removes the finalizer, which all of them have, when they are not in use. */
export const volumeProtection = {
  name: 'controllers/volume-protection',
  parse: () => ({}),
  contribute: () => [controller.of(host => new VolumeProtection(host))],
} satisfies Plugin;
