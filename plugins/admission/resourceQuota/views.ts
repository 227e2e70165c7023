import type { ResourceQuota } from '../../../kinds/v1.js';
import type { ResourceEvent } from '../../../core/api/host.js';
import type { ApiObject, Frozen } from '../../../core/model/object.js';

type Quota = Frozen<ResourceQuota>;

/** A quota as it was read last. */
interface View {
  quota: Quota;
  /** Reads the quota as it is now; undefined: it has not changed. */
  read: (() => Quota) | undefined;
}

/**
 * The quotas of all namespaces. Admission changes a quota with almost every object, so reading it each time would cost
 * more than the rest of the decision: it is read again when somebody asks for the current one.
 */
export class QuotaViews {
  /** By namespace and name. */
  readonly #views = new Map<string, Map<string, View>>();
  /** The quotas of a namespace in the order of their names, as last read. */
  readonly #lists = new Map<string, readonly Quota[]>();

  /** Takes a change of a quota. */
  take({ type, namespace, name, object }: ResourceEvent<ApiObject>): void {
    const read = object as unknown as () => Quota;
    let views = this.#views.get(namespace);
    const known = views?.get(name);
    if (known && type === 'MODIFIED') {
      known.read = read;
      return;
    }
    this.#lists.delete(namespace);
    if (type === 'DELETED') {
      views?.delete(name);
      if (views?.size === 0) this.#views.delete(namespace);
      return;
    }
    if (!views) this.#views.set(namespace, (views = new Map()));
    views.set(name, { quota: read(), read: undefined });
  }

  /** The quotas of a namespace as last read, in the order of their names. */
  of(namespace: string): readonly Quota[] {
    const views = this.#views.get(namespace);
    if (!views) return [];
    let list = this.#lists.get(namespace);
    if (!list) {
      const sorted = [...views].sort(([a], [b]) => (a < b ? -1 : 1));
      this.#lists.set(namespace, (list = sorted.map(([, { quota }]) => quota)));
    }
    return list;
  }

  /** Reads the quotas of a namespace that have changed, except some of them. Returns whether there were any. */
  refresh(namespace: string, except: readonly Quota[] = []): boolean {
    let isRefreshed = false;
    for (const view of this.#views.get(namespace)?.values() ?? []) {
      if (!view.read || except.includes(view.quota)) continue;
      view.quota = view.read();
      view.read = undefined;
      isRefreshed = true;
    }
    if (isRefreshed) this.#lists.delete(namespace);
    return isRefreshed;
  }
}
