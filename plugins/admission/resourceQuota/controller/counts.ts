import type { ApiObject, ResourceEvent } from '../../../../core/api/index.js';

/** The number of objects of each resource in a namespace, kept up to date by the events of all resources. */
export class ObjectCounts {
  readonly #namespaces = new Map<string, Map<string, number>>();

  /** Takes an event; each object must first have been ADDED. */
  take({ type, namespace, storageName }: Pick<ResourceEvent<ApiObject>, 'type' | 'namespace' | 'storageName'>): void {
    if (type === 'MODIFIED' || namespace === '') return;
    let counts = this.#namespaces.get(namespace);
    if (!counts) this.#namespaces.set(namespace, (counts = new Map()));
    const count = (counts.get(storageName) ?? 0) + (type === 'ADDED' ? 1 : -1);
    if (count > 0) counts.set(storageName, count);
    else counts.delete(storageName);
    if (counts.size === 0) this.#namespaces.delete(namespace);
  }

  of(namespace: string, storageName: string): number {
    return this.#namespaces.get(namespace)?.get(storageName) ?? 0;
  }
}
