import type { Refusal } from '../../../core/model/refusal.js';
import { mayShow } from '../reads/selection.js';
import type { Change, Collection } from '../state/collection.js';
import type { Watcher } from './watcher.js';

/** All watches, by collection. */
export class WatchHub {
  readonly #byCollection = new Map<Collection, Set<Watcher>>();
  #finished = false;

  add(watcher: Watcher): void {
    let watchers = this.#byCollection.get(watcher.collection);
    if (!watchers) {
      watchers = new Set();
      this.#byCollection.set(watcher.collection, watchers);
    }
    watchers.add(watcher);
  }

  /** Whether all watches were ended: new ones are refused. */
  get finished(): boolean {
    return this.#finished;
  }

  /** How many watches are open. */
  get size(): number {
    return Array.from(this.#byCollection.values(), watchers => watchers.size).reduce((sum, size) => sum + size, 0);
  }

  remove(watcher: Watcher): void {
    this.#byCollection.get(watcher.collection)?.delete(watcher);
  }

  publish(change: Change): void {
    const watchers = this.#byCollection.get(change.collection);
    if (watchers) for (const watcher of watchers) watcher.take(change);
    // The history keeps the change for minutes; its encodings are needed only while it is sent.
    change.encodings = undefined;
  }

  /** Ends the watches of a collection cleanly, because the schema of its kind has changed. */
  end(collection: Collection | undefined, revision: number): void {
    const watchers = collection && this.#byCollection.get(collection);
    if (watchers) for (const watcher of [...watchers]) watcher.finish(revision);
  }

  /** Ends the watches that may have shown an object, with an error. */
  fail(collection: Collection, key: string, refusal: Refusal): void {
    const watchers = this.#byCollection.get(collection);
    if (watchers) for (const watcher of [...watchers]) if (mayShow(watcher.selection, key)) watcher.fail(refusal);
  }

  /** Ends every watch cleanly, for a drain. */
  finish(revision: number): void {
    this.#finished = true;
    for (const watchers of this.#byCollection.values()) for (const watcher of [...watchers]) watcher.finish(revision);
  }
}
