import type { ApiObject, OwnerReference } from '../../core/api/index.js';

/** Finalizer of an owner that waits for its dependents to go. */
export const FOREGROUND = 'foregroundDeletion';
/** Finalizer of an owner whose dependents are to be kept. */
export const ORPHAN = 'orphan';

/** An object that has owners, or waits for its dependents. */
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

/** Being deleted once its dependents are gone. */
export const awaitsDependents = (node: {
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}): boolean => node.deleting && node.finalizers.includes(FOREGROUND);

/** Being deleted once its dependents have let go of it. */
export const awaitsOrphaning = (node: Node): boolean => node.deleting && node.finalizers.includes(ORPHAN);

/** The node of an object; undefined if it has no part in garbage collection. */
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

/**
 * Key of an object in the graph; `|` occurs in no storage name, namespace or object name that matters before the last
 * one.
 */
export const keyOf = (storageName: string, namespace: string, name: string): string =>
  `${storageName}|${namespace}|${name}`;

/**
 * Who depends on whom: every node by its key, and dependents by the uid of their owners. Pure memory; changed by events
 * in their order.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #byUid = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  /** Puts, replaces or, with `next` undefined, removes the node under `key`; the node that was there. */
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

  /** Objects that name `uid` as an owner. */
  dependentsOf(uid: string): readonly Node[] {
    const keys = this.#dependents.get(uid);
    return keys ? [...keys].flatMap(key => this.#nodes.get(key) ?? []) : [];
  }

  /** Dependents whose reference blocks the deletion of `uid`. */
  blockersOf(uid: string): readonly Node[] {
    return this.dependentsOf(uid).filter(node =>
      node.owners.some(owner => owner.uid === uid && owner.blockOwnerDeletion),
    );
  }

  /**
   * Whether everything that `owner` waits for, if anything, waits for it in its turn: then none of them would ever go.
   */
  waitsInVain(owner: Node): boolean {
    return this.blockersOf(owner.uid).every(blocker => this.#waitsFor(blocker, owner));
  }

  /** Whether a node waits for another, directly or through others that wait. */
  #waitsFor(from: Node, sought: Node): boolean {
    const ahead = new Set([from]);
    for (const node of ahead) {
      if (!awaitsDependents(node)) continue;
      for (const blocker of this.blockersOf(node.uid)) {
        if (blocker === sought) return true;
        ahead.add(blocker);
      }
    }
    return false;
  }

  /** Whether anything depends on anything: if not, deletions need not be decoded. */
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
