import type { ApiObject, Host, Informer, StoredObject } from '../../../core/api/index.js';
import { unknownToken } from '../bearer.js';
import type { ClaimedObject } from './claims.js';

/** How far the clocks of issuer and verifier may be apart, in seconds (upstream's leeway). */
export const LEEWAY = 60;

const RESOURCES = ['core/serviceaccounts', 'core/secrets', 'core/pods', 'core/nodes'] as const;

/** A resource whose objects tokens may depend on. */
export type TokenResource = (typeof RESOURCES)[number];

const ACCOUNTS: TokenResource = 'core/serviceaccounts';
const INVALIDATED = 'service account token has been invalidated';
const referenceFaults = (kind: string) => ({
  ended: INVALIDATED,
  mismatch: [`${kind} UID`, `service account ${kind} ref claim`],
});

/** Upstream's words in reviews of tokens: for an object that is gone, and for another uid. */
const FAULTS: Readonly<Record<TokenResource, { readonly ended: string; readonly mismatch: readonly string[] }>> = {
  'core/serviceaccounts': { ended: INVALIDATED, mismatch: ['service account UID', 'claim'] },
  'core/secrets': referenceFaults('secret'),
  'core/pods': referenceFaults('pod'),
  'core/nodes': referenceFaults('node'),
};

/** When tokens end that depend on an object with this deletion timestamp, in milliseconds since the epoch. */
const endOf = (deletionTimestamp: string): number => Date.parse(deletionTimestamp) + LEEWAY * 1000;

/** When tokens end that depend on these objects, in milliseconds since the epoch, if none of them changes before. */
export const endOfAll = (found: readonly StoredObject[]): number =>
  Math.min(
    ...found.map(({ object: { metadata } }) =>
      metadata.deletionTimestamp ? endOf(metadata.deletionTimestamp) : Number.POSITIVE_INFINITY,
    ),
  );

/** Finds the objects that tokens depend on. */
export class TokenObjects {
  readonly #informers: ReadonlyMap<TokenResource, Informer>;
  readonly #now: () => number;

  constructor({ informer, now }: Pick<Host<'pool'>, 'informer' | 'now'>) {
    this.#informers = new Map(RESOURCES.map(name => [name, informer(name)]));
    this.#now = now;
  }

  /** The current object; undefined if there is none. */
  get(storageName: TokenResource, namespace: string, name: string): ApiObject | undefined {
    return this.#informers.get(storageName)!.get(namespace, name);
  }

  /**
   * The object that a token names. Throws 401 if it is gone, was made again under its name, or has been terminating for
   * longer than clocks may be apart.
   */
  live(storageName: TokenResource, namespace: string, { name, uid }: ClaimedObject): StoredObject {
    const object = this.get(storageName, namespace, name);
    const { uid: current, deletionTimestamp } = object?.metadata ?? {};
    const { ended, mismatch } = FAULTS[storageName];
    if (!object)
      throw unknownToken(storageName === ACCOUNTS ? `serviceaccounts ${JSON.stringify(name)} not found` : ended);
    if (deletionTimestamp && endOf(deletionTimestamp) < this.#now()) throw unknownToken(ended);
    if (current !== uid) throw unknownToken(`${mismatch[0]} (${current}) does not match ${mismatch[1]} (${uid})`);
    return { storageName, object };
  }
}
