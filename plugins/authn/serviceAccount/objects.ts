import type { ApiObject, Host, Informer, StoredObject } from '../../../core/api/index.js';
import { unknownToken } from '../bearer.js';
import type { ClaimedObject } from './claims.js';

/** How far the clocks of issuer and verifier may be apart, in seconds (upstream's leeway). */
export const LEEWAY = 60;

const RESOURCES = ['core/serviceaccounts', 'core/secrets', 'core/pods', 'core/nodes'] as const;

/** A resource whose objects tokens may depend on. */
export type TokenResource = (typeof RESOURCES)[number];

/** Finds the objects that tokens depend on. */
export class TokenObjects {
  readonly #informers: ReadonlyMap<TokenResource, Informer>;
  readonly #now: () => number;

  constructor({ informer, now }: Pick<Host<'request'>, 'informer' | 'now'>) {
    this.#informers = new Map(RESOURCES.map(name => [name, informer(name)]));
    this.#now = now;
  }

  /** The current object; undefined if there is none. */
  get(storageName: TokenResource, namespace: string, name: string): ApiObject | undefined {
    return this.#informers.get(storageName)!.get(namespace, name);
  }

  /**
   * The object that a token names. Throws 401 if it is gone, was made again under its name, or has been going for
   * longer than clocks may be apart.
   */
  live(storageName: TokenResource, namespace: string, { name, uid }: ClaimedObject): StoredObject {
    const object = this.get(storageName, namespace, name);
    const { uid: current, deletionTimestamp } = object?.metadata ?? {};
    if (!object || current !== uid) throw unknownToken();
    if (deletionTimestamp && Date.parse(deletionTimestamp) < this.#now() - LEEWAY * 1000) throw unknownToken();
    return { storageName, object };
  }
}
