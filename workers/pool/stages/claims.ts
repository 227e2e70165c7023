import type { Transaction } from '../../../core/api/storage.js';
import { OBJECT_CLAIMS } from '../../../core/limits.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Resource } from '../../../core/schema/resource.js';

/** The storage name of the claims of a resource. They are not reachable through the API. */
export const claimStorageName = ({ storageName }: Resource): string => `claims/${storageName.replace('/', '.')}`;

const claimKey = (resource: Resource, claim: string): string =>
  `${claimStorageName(resource)}/${encodeURIComponent(claim)}`;

/** The value of a claim: an object, as readers of the whole store expect. */
const claimValue = (claim: string, holder: string): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: 'Claim', apiVersion: '', metadata: { name: claim }, holder }));

/** The operations that delete the claims of an object that cannot be read; `all` has those of its resource. */
export const claimReleases = (resource: Resource, key: string, all: readonly ApiObject[]): Transaction =>
  all
    .filter(claim => claim['holder'] === key)
    .map(({ metadata }) => ({ is: 'delete', key: claimKey(resource, metadata.name!) }));

/**
 * The operations on claims (`Strategy.claims`) of a write that changes the object at `key` from `old` to `object`:
 * new claims must not exist yet, others are deleted. They belong to the transaction of the write, so that of two
 * objects that were validated at the same time and claim the same, one fails and is validated again.
 */
export function claimOperations(
  resource: Resource,
  key: string,
  old: ApiObject | undefined,
  object: ApiObject | undefined,
): Transaction {
  const { claims } = resource.strategy;
  if (!claims) return [];
  const claimsOf = (holder: ApiObject | undefined): Set<string> =>
    new Set(holder ? claims(holder).slice(0, OBJECT_CLAIMS) : []);
  const before = claimsOf(old);
  const after = claimsOf(object);
  return [
    ...[...after]
      .filter(claim => !before.has(claim))
      .map(claim => ({ is: 'put' as const, key: claimKey(resource, claim), value: claimValue(claim, key), expect: 0 })),
    ...[...before]
      .filter(claim => !after.has(claim))
      .map(claim => ({ is: 'delete' as const, key: claimKey(resource, claim) })),
  ];
}
