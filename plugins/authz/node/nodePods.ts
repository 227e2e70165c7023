import type { Frozen, ResourceEvent } from '../../../core/api/index.js';
import type { Pod } from '../../../kinds/v1.js';
import { podReferences, type PodReferences } from './podReferences.js';

/** A pod with the nodes that it may be bound to. It is decoded when one of these nodes asks for the first time. */
interface PodRecord {
  /** Values of all members `nodeName`; at most one of them is the node of the pod. */
  readonly candidates: readonly string[];
  readonly namespace: string;
  /** The last change, until the pod is decoded. */
  event: ResourceEvent | undefined;
  node: string;
  references: PodReferences | undefined;
}

/** Pods by node, from events. A change costs a search in the bytes of the pod. */
export class NodePods {
  readonly #byKey = new Map<string, PodRecord>();
  readonly #byNode = new Map<string, Set<PodRecord>>();

  constructor(readonly mirrorAnnotation: string) {}

  /** The number of pods that are bound to nodes. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Takes a change of a pod. */
  take(event: ResourceEvent): void {
    const key = `${event.namespace}/${event.name}`;
    this.#remove(key);
    if (event.type === 'DELETED') return;
    const named = event.stringsNamed?.('nodeName') ?? [nodeNameOf(event.object() as Frozen<Pod>)];
    const candidates = [...new Set(named)].filter(node => node !== '');
    if (candidates.length === 0) return;
    const { namespace } = event;
    const record: PodRecord = { candidates, namespace, event, node: '', references: undefined };
    this.#byKey.set(key, record);
    for (const node of candidates) {
      const pods = this.#byNode.get(node);
      if (pods) pods.add(record);
      else this.#byNode.set(node, new Set([record]));
    }
  }

  /** Whether the pod is bound to the node. */
  isOn(node: string, namespace: string, name: string): boolean {
    const record = this.#byKey.get(`${namespace}/${name}`);
    return record !== undefined && this.#decode(record).node === node;
  }

  /** Whether a pod of the node meets a condition. */
  some(node: string, meets: (references: PodReferences, namespace: string) => boolean): boolean {
    for (const record of this.#byNode.get(node) ?? []) {
      const { references } = this.#decode(record);
      if (record.node === node && meets(references!, record.namespace)) return true;
    }
    return false;
  }

  #decode(record: PodRecord): PodRecord {
    if (record.event) {
      const pod = record.event.object() as Frozen<Pod>;
      record.node = nodeNameOf(pod);
      record.references = podReferences(pod, this.mirrorAnnotation);
      record.event = undefined;
    }
    return record;
  }

  #remove(key: string): void {
    const record = this.#byKey.get(key);
    if (!record) return;
    this.#byKey.delete(key);
    for (const node of record.candidates) {
      const pods = this.#byNode.get(node);
      pods?.delete(record);
      if (pods?.size === 0) this.#byNode.delete(node);
    }
  }
}

const nodeNameOf = ({ spec }: Frozen<Pod>): string => spec.nodeName ?? '';
