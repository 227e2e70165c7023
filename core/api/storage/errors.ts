import { recognizeCopies } from '../../model/copies.js';

/**
 * Thrown for a read or watch at a revision whose history was removed.
 *
 * @example
 * if (revision <= this.compactedRevision()) throw new Compacted(this.compactedRevision());
 */
export class Compacted extends Error {
  constructor(readonly compactedRevision: number) {
    super(`history up to revision ${compactedRevision} has been compacted`);
  }
}

/**
 * Thrown for a read at a revision that does not exist yet.
 *
 * @example
 * if (asked > current) throw new FutureRevision(current);
 */
export class FutureRevision extends Error {
  constructor(readonly currentRevision: number) {
    super(`revision is above the current revision ${currentRevision}`);
  }
}

/**
 * Thrown for a store that must not be opened or used because it is damaged, in use, or of an unknown format. The
 * message names the problem and the remedy.
 *
 * @example
 * throw new StoreError(`${path} has format 2, which this release does not read: restore a snapshot`);
 */
export class StoreError extends Error {}

/**
 * The error for a shared store whose revision has decreased: it was restored from a backup, and the objects in the
 * memory of this process are not those in the store.
 *
 * @example
 * if (revision < this.#revision) throw lostData(revision, this.#revision);
 */
export const lostData = (revision: number, before: number): StoreError =>
  new StoreError(`the store is at revision ${revision}, but was at ${before} before: it lost data; start again`);

/**
 * The store cannot be reached. It is unknown whether a write was committed.
 *
 * @example
 * return { is: 'error', error: new Unavailable('no etcd server answers') };
 */
export class Unavailable extends Error {}

for (const [name, error] of Object.entries({ Compacted, FutureRevision, StoreError, Unavailable }))
  recognizeCopies(error, name);
