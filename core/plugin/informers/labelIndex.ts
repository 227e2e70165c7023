import { LABEL_INDEX_CHANGES } from '../../limits.js';
import type { ApiObject } from '../../model/object.js';

/**
 * The keys of the objects of one resource by the value of one label. A change only records the key. Changed objects are
 * indexed when the index is next used, so that unused indexes cost little.
 */
export class LabelIndex {
  readonly #keys = new Map<string, Set<string>>();
  /** The label value under which each key is in `#keys`. */
  readonly #bucketOf = new Map<string, string>();
  readonly #changed: Set<string>;

  constructor(
    readonly label: string,
    /** All current keys. */
    keys: Iterable<string>,
  ) {
    this.#changed = new Set(keys);
  }

  /** Records a change. Returns false if there are so many that building a new index is faster. */
  change(key: string): boolean {
    this.#changed.add(key);
    return this.#changed.size <= Math.max(LABEL_INDEX_CHANGES, this.#bucketOf.size);
  }

  /** The keys of the objects in a namespace with a value of the label, sorted. */
  find(namespace: string, value: string, objectOf: (key: string) => ApiObject | undefined): readonly string[] {
    for (const key of this.#changed) this.#update(key, objectOf(key));
    this.#changed.clear();
    return [...(this.#keys.get(`${namespace}/${value}`) ?? [])].sort();
  }

  #update(key: string, object: ApiObject | undefined): void {
    const before = this.#bucketOf.get(key);
    const { namespace = '', labels } = object?.metadata ?? {};
    const bucket = labels && Object.hasOwn(labels, this.label) ? `${namespace}/${labels[this.label]}` : undefined;
    if (bucket === before) return;
    if (before !== undefined) this.#remove(key, before);
    if (bucket === undefined) return;
    this.#bucketOf.set(key, bucket);
    const keys = this.#keys.get(bucket);
    if (keys) keys.add(key);
    else this.#keys.set(bucket, new Set([key]));
  }

  #remove(key: string, bucket: string): void {
    this.#bucketOf.delete(key);
    const keys = this.#keys.get(bucket)!;
    keys.delete(key);
    if (keys.size === 0) this.#keys.delete(bucket);
  }
}
