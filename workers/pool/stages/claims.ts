import type { Transaction } from '../../../core/api/storage.js';
import { OBJECT_CLAIMS } from '../../../core/limits.js';
import type { ApiObject } from '../../../core/model/object.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Current } from '../../../core/threads/messages/messages.js';

/** The key of a claim. It is not reachable through the API. */
const claimKey = ({ storageName }: Resource, claim: string): string =>
  `claims/${storageName.replace('/', '.')}/${encodeURIComponent(claim)}`;

/** The value of a claim: an object, as readers of the whole store expect. */
const claimValue = (claim: string, holder: string): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: 'Claim', apiVersion: '', metadata: { name: claim }, holder }));

/**
 * The operations on claims (`Strategy.claims`) of a write that changes the object at `key` from `current` to `object`:
 * new claims must not exist yet, others are deleted. They belong to the transaction of the write, so that of two
 * objects that were validated at the same time and claim the same, one fails and is validated again.
 */
export function claimOperations(
  resource: Resource,
  key: string,
  current: Current | undefined,
  object: ApiObject | undefined,
): Transaction {
  const { claims } = resource.strategy;
  if (!claims) return [];
  const claimsOf = (holder: ApiObject | undefined): Set<string> =>
    new Set(holder ? claims(holder).slice(0, OBJECT_CLAIMS) : []);
  const before = claimsOf(current && decodeStored(current.bytes));
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
