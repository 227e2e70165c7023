import type { Host, Informer } from '../../../core/api/index.js';
import type { ResourceSlice } from '../../../kinds/resource/v1beta1.js';
import type { VolumeAttachment } from '../../../kinds/storage/v1.js';
import type { PersistentVolume } from '../../../kinds/v1.js';
import { NodePods } from './nodePods.js';
import type { PodReferences } from './podReferences.js';
import { claimOf, VolumeSecrets } from './volumeSecrets.js';

/** The objects that the pods of nodes use, kept up to date by events. */
export class NodeGraph {
  readonly pods: NodePods;
  readonly #secrets = new VolumeSecrets();
  readonly #volumes: Informer<PersistentVolume>;
  readonly #attachments: Informer<VolumeAttachment>;
  readonly #slices: Informer<ResourceSlice>;

  constructor({ informer, onChange, naming }: Pick<Host<'pool'>, 'informer' | 'onChange' | 'naming'>) {
    this.pods = new NodePods(naming.label('orchestrator.io/config.mirror'));
    this.#volumes = informer('core/persistentvolumes') as Informer<PersistentVolume>;
    this.#attachments = informer('storage.orchestrator.io/volumeattachments') as Informer<VolumeAttachment>;
    this.#slices = informer('resource.orchestrator.io/resourceslices') as Informer<ResourceSlice>;
    onChange('core/pods', event => this.pods.take(event));
    onChange('core/persistentvolumes', event => this.#secrets.take(event));
  }

  usesServiceAccount = (node: string, namespace: string, name: string): boolean =>
    this.pods.some(node, (pod, home) => home === namespace && pod.serviceAccount === name);

  usesConfigMap = (node: string, namespace: string, name: string): boolean =>
    this.#uses(node, 'configMaps', namespace, name);

  usesClaim = (node: string, namespace: string, name: string): boolean => this.#uses(node, 'claims', namespace, name);

  usesResourceClaim = (node: string, namespace: string, name: string): boolean =>
    this.#uses(node, 'resourceClaims', namespace, name);

  /** A pod needs its own secrets and those of the volumes that are bound to its claims. */
  usesSecret = (node: string, namespace: string, name: string): boolean => {
    if (this.#uses(node, 'secrets', namespace, name)) return true;
    const claims = this.#secrets.claimsFor(namespace, name);
    return (
      claims !== undefined &&
      this.pods.some(node, (pod, home) => pod.claims.some(claim => claims.has(`${home}/${claim}`)))
    );
  };

  usesVolume = (node: string, namespace: string, name: string): boolean => {
    const claim = claimOf(this.#volumes.get(namespace, name));
    return (
      claim !== undefined && this.pods.some(node, (pod, home) => pod.claims.some(one => `${home}/${one}` === claim))
    );
  };

  hasAttachment = (node: string, namespace: string, name: string): boolean =>
    this.#attachments.get(namespace, name)?.spec.nodeName === node;

  hasSlice = (node: string, namespace: string, name: string): boolean =>
    this.#slices.get(namespace, name)?.spec.nodeName === node;

  hasPod = (node: string, namespace: string, name: string): boolean => this.pods.isOn(node, namespace, name);

  #uses(node: string, what: Exclude<keyof PodReferences, 'serviceAccount'>, namespace: string, name: string): boolean {
    return this.pods.some(node, (pod, home) => home === namespace && pod[what].includes(name));
  }
}
