import type { FoundObject, Frozen, Host, OwnerReference, ReconcileContext } from '../../../core/api/index.js';
import { goQuote } from '../../../core/model/text/quote.js';
import type { Node } from './ownerGraph.js';

/** Largest number of owners that are searched at once, and of owners whose place is remembered. */
const MAX_OWNERS = 10_000;

type Owner = Frozen<OwnerReference>;
type Found = ReadonlyMap<string, FoundObject>;
type Places = ReadonlyMap<string, FoundObject | undefined>;

/**
 * Records an Event about each object with an owner in another namespace, whose reference therefore has no effect. Like
 * upstream, it looks for the owner by its uid, so the place found does not depend on the kind and name in the
 * reference.
 */
export class MisplacedOwners {
  readonly #host: Host<'control'>;
  /** The owners of objects, by key, that were added and not yet checked. */
  readonly #unchecked = new Map<string, readonly Owner[]>();
  /** Where owners are, by uid; undefined for those that do not exist. */
  readonly #places = new Map<string, FoundObject | undefined>();
  /** The next search, to which uids can be added. */
  #next: { readonly uids: Set<string>; readonly found: Promise<Found> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(host: Host<'control'>) {
    this.#host = host;
  }

  /** Notes the owners that an object has got. */
  observe(key: string, previous: Node | undefined, next: Node | undefined): void {
    if (!next) {
      this.#unchecked.delete(key);
      return;
    }
    const before = new Set(previous?.owners.map(({ uid }) => uid));
    const added = next.owners.filter(({ uid }) => !before.has(uid));
    if (added.length > 0) this.#unchecked.set(key, [...(this.#unchecked.get(key) ?? []), ...added]);
  }

  /** To be called when an owner was deleted: it is no longer searched for. */
  deleted(uid: string): void {
    this.#remember(uid, undefined);
  }

  /**
   * Checks the owners that an object has got since the last check. As in upstream, only the first owner that differs
   * from its reference counts: it is reported if it is in another namespace.
   */
  async check(node: Node, context: ReconcileContext): Promise<void> {
    const owners = this.#unchecked.get(node.key);
    if (!owners) return;
    this.#unchecked.delete(node.key);
    if (owners.every(owner => this.#isInPlace(node, owner, context))) return;
    const places = await this.#find(owners.map(({ uid }) => uid));
    for (const owner of owners) {
      const place = places.get(owner.uid);
      if (!place) continue;
      if (place.namespace !== '' && place.namespace !== node.namespace) return report(node, owner, context);
      if (!this.#isNamed(owner, place)) return;
    }
  }

  #isInPlace(node: Node, { apiVersion, kind, name, uid }: Owner, { get }: ReconcileContext): boolean {
    const resource = this.#host.resources.byKind(apiVersion, kind);
    if (!resource || (resource.namespaced && node.namespace === '')) return false;
    const namespace = resource.namespaced ? node.namespace : '';
    return get(resource.storageName, { namespace, name })?.metadata.uid === uid;
  }

  /** Whether a reference has the kind and the name of the object with its uid. */
  #isNamed({ apiVersion, kind, name }: Owner, place: FoundObject): boolean {
    return place.name === name && this.#host.resources.byKind(apiVersion, kind)?.storageName === place.storageName;
  }

  async #find(uids: readonly string[]): Promise<Places> {
    const unknown = uids.filter(uid => !this.#places.has(uid));
    const known = uids.map(uid => [uid, this.#places.get(uid)] as const);
    const found = unknown.length > 0 ? await this.#search(unknown) : undefined;
    return new Map([...known, ...unknown.map(uid => [uid, found?.get(uid)] as const)]);
  }

  /** Makes one search after the other: callers during one share the next, which also answers later questions. */
  #search(uids: readonly string[]): Promise<Found> {
    this.#next ??= this.#searchAfter(this.#last);
    for (const uid of uids) this.#next.uids.add(uid);
    return this.#next.found;
  }

  #searchAfter(last: Promise<unknown>): { readonly uids: Set<string>; readonly found: Promise<Found> } {
    const uids = new Set<string>();
    const search = async (): Promise<Found> => {
      await last;
      this.#next = undefined;
      for (const owners of this.#unchecked.values()) {
        if (uids.size >= MAX_OWNERS) break;
        for (const { uid } of owners) uids.add(uid);
      }
      const found = await this.#host.findByUid(uids);
      for (const uid of uids) this.#remember(uid, found.get(uid));
      return found;
    };
    const found = search();
    this.#last = found.catch(() => undefined);
    return { uids, found };
  }

  #remember(uid: string, place: FoundObject | undefined): void {
    if (this.#places.size >= MAX_OWNERS) this.#places.clear();
    this.#places.set(uid, place);
  }
}

/** Records that an owner is in another namespace than the object that names it, in upstream's words. */
function report({ storageName, namespace, name }: Node, owner: Owner, { get, event }: ReconcileContext): void {
  const object = get(storageName, { namespace, name });
  if (!object) return;
  const { apiVersion, kind, name: ownerName, uid } = owner;
  const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${ownerName}, uid: ${uid}]`;
  const message = `ownerRef ${reference} does not exist in namespace ${goQuote(namespace)}`;
  event(object, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message });
}
