import { type ApiObject, type Controller, controller, type Host, type Plugin, type ResourceEvent } from '../../core/api/index.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAME = 'pvc-protection-controller';
const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';
const PODS = 'core/pods';

/** What the controller reads of a pod and of a volume. */
interface Spec {
  readonly volumes?: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly ephemeral?: object;
  }[];
}

const specOf = (object: ApiObject): Spec => (object['spec'] ?? {}) as Spec;
const phaseOf = (object: ApiObject): string | undefined => (object['status'] as { phase?: string } | undefined)?.phase;

/** Names of the claims a pod uses: those it names, and those made for its ephemeral volumes. */
const claimsOf = (pod: ApiObject): string[] =>
  (specOf(pod).volumes ?? []).flatMap(volume => {
    if (volume.persistentVolumeClaim) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [];
  });

const ended = (pod: ApiObject): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod) ?? '');

/** Lets claims go that no pod uses, and volumes that no claim is bound to, once they are to be deleted. */
class VolumeProtection implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: key => this.#release(key) });
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
      if (type === 'DELETED' || ended(pod)) for (const claim of claimsOf(pod)) this.#queue.add(`${CLAIMS}|${namespace}|${claim}`);
    } else if ((storageName === CLAIMS || storageName === VOLUMES) && type !== 'DELETED') {
      if (event.mentions?.('deletionTimestamp') !== false) this.#queue.add(`${storageName}|${namespace}|${name}`);
    }
  }

  async #release(key: string): Promise<void> {
    const [storageName = '', namespace = '', name = ''] = key.split('|');
    const object = this.#host.informer(storageName).get(namespace, name);
    if (!object?.metadata.deletionTimestamp || this.#isUsed(storageName, object)) return;
    const claim = storageName === CLAIMS;
    const finalizer = this.#host.naming.label(`orchestrator.io/${claim ? 'pvc' : 'pv'}-protection`);
    const path = claim ? `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}` : `/api/v1/persistentvolumes/${name}`;
    const { finalizers = [], resourceVersion, uid } = object.metadata;
    if (!finalizers.includes(finalizer)) return;
    const left = finalizers.filter(other => other !== finalizer);
    await this.#requests.merge(path, { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } });
  }

  #isUsed(storageName: string, object: ApiObject): boolean {
    if (storageName === VOLUMES) return phaseOf(object) === 'Bound';
    const pods = this.#host.informer(PODS).list(object.metadata.namespace);
    return pods.some(pod => !ended(pod) && claimsOf(pod).includes(object.metadata.name ?? ''));
  }
}

/** Protection of volumes and claims in use: takes the finalizer away that every one of them begins with. */
export const volumeProtection = {
  name: 'controllers/volume-protection',
  parse: () => ({}),
  contribute: () => [controller.of(host => new VolumeProtection(host))],
} satisfies Plugin;
