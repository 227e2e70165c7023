import type { ApiObject, OwnerReference } from '../../../core/api/index.js';

/** Finalizer of an owner that waits for the deletion of its dependents. */
export const FOREGROUND = 'foregroundDeletion';
/** Finalizer of an owner whose dependents must be orphaned before its deletion. */
export const ORPHAN = 'orphan';

/** An object that has owners or one of the finalizers above. */
export interface Node {
  /** `storageName|namespace|name`. */
  readonly key: string;
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}

/** Whether an object is being deleted in the foreground: after its dependents. */
export const awaitsDependents = (node: {
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}): boolean => node.deleting && node.finalizers.includes(FOREGROUND);

/** Whether an object is being deleted after its dependents are orphaned. */
export const awaitsOrphaning = (node: Node): boolean => node.deleting && node.finalizers.includes(ORPHAN);

/** The node of an object; undefined if it has neither owners nor one of the finalizers. */
export function nodeOf(storageName: string, object: ApiObject): Node | undefined {
  const { metadata } = object;
  const owners = metadata.ownerReferences ?? [];
  const finalizers = metadata.finalizers ?? [];
  if (owners.length === 0 && !finalizers.includes(FOREGROUND) && !finalizers.includes(ORPHAN)) return undefined;
  const namespace = metadata.namespace ?? '';
  const name = metadata.name ?? '';
  const key = keyOf(storageName, namespace, name);
  return {
    key,
    storageName,
    namespace,
    name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    owners,
    deleting: !!metadata.deletionTimestamp,
    finalizers,
  };
}

/** The key of an object in the graph. Storage names and namespaces do not contain `|`. */
export const keyOf = (storageName: string, namespace: string, name: string): string =>
  `${storageName}|${namespace}|${name}`;

/** The graph of owners and dependents, in memory, updated by events in their order. */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #byUid = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  /** Adds or replaces the node of a key, or removes it if `next` is undefined. Returns the previous node. */
  set(key: string, next: Node | undefined): Node | undefined {
    const previous = this.#nodes.get(key);
    if (previous) this.#unlink(previous);
    if (next) this.#link(next);
    return previous;
  }

  get(key: string): Node | undefined {
    return this.#nodes.get(key);
  }

  byUid(uid: string): Node | undefined {
    return this.#byUid.get(uid);
  }

  /** Objects with an owner reference to `uid`. */
  dependentsOf(uid: string): readonly Node[] {
    const keys = this.#dependents.get(uid);
    return keys ? [...keys].flatMap(key => this.#nodes.get(key) ?? []) : [];
  }

  /** Dependents whose owner reference blocks the deletion of `uid`. */
  blockersOf(uid: string): readonly Node[] {
    return this.dependentsOf(uid).filter(node =>
      node.owners.some(owner => owner.uid === uid && owner.blockOwnerDeletion),
    );
  }

  /** Whether no dependent blocks the deletion of `owner`, except those that in turn wait for `owner` (a cycle). */
  canFinishDeletion(owner: Node): boolean {
    return this.blockersOf(owner.uid).every(blocker => this.#waitsFor(blocker, owner));
  }

  /** Whether a node waits for another, directly or transitively. */
  #waitsFor(from: Node, target: Node): boolean {
    const visited = new Set([from]);
    for (const node of visited) {
      if (!awaitsDependents(node)) continue;
      for (const blocker of this.blockersOf(node.uid)) {
        if (blocker === target) return true;
        visited.add(blocker);
      }
    }
    return false;
  }

  /** Whether there are any dependents. If not, deleted objects need not be decoded. */
  get hasDependents(): boolean {
    return this.#dependents.size > 0;
  }

  *[Symbol.iterator](): IterableIterator<Node> {
    yield* this.#nodes.values();
  }

  #link(node: Node): void {
    this.#nodes.set(node.key, node);
    this.#byUid.set(node.uid, node);
    for (const { uid } of node.owners) {
      const keys = this.#dependents.get(uid);
      if (keys) keys.add(node.key);
      else this.#dependents.set(uid, new Set([node.key]));
    }
  }

  #unlink(node: Node): void {
    this.#nodes.delete(node.key);
    if (this.#byUid.get(node.uid) === node) this.#byUid.delete(node.uid);
    for (const { uid } of node.owners) {
      const keys = this.#dependents.get(uid);
      keys?.delete(node.key);
      if (keys?.size === 0) this.#dependents.delete(uid);
    }
  }
}
