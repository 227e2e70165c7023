import type { Transaction } from '../../core/api/storage.js';
import { OBJECT_CLAIMS } from '../../core/limits.js';
import type { ApiObject } from '../../core/model/object.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Current } from '../../core/threads/messages.js';

/** Where a claim is kept: no path leads there. */
const claimKey = ({ storageName }: Resource, claim: string): string =>
  `claims/${storageName.replace('/', '.')}/${encodeURIComponent(claim)}`;

/** As a stored object, which whoever follows all of the store takes it for. */
const claimValue = (claim: string, holder: string): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: 'Claim', apiVersion: '', metadata: { name: claim }, holder }));

/**
 * What a write of the object at `key` from `current` to `object` does to its claims (`Strategy.claims`): takes those
 * that are new, which nobody may hold, and gives up those that are gone. Part of the same transaction, so that of two
 * objects that were judged at once and claim the same, one is judged again.
 */
export function claimOperations(
  resource: Resource,
  key: string,
  current: Current | undefined,
  object: ApiObject | undefined,
): Transaction {
  const { claims } = resource.strategy;
  if (!claims) return [];
  const of = (holder: ApiObject | undefined): Set<string> =>
    new Set(holder ? claims(holder).slice(0, OBJECT_CLAIMS) : []);
  const before = of(current && decodeStored(current.bytes));
  const after = of(object);
  return [
    ...[...after]
      .filter(claim => !before.has(claim))
      .map(claim => ({ is: 'put' as const, key: claimKey(resource, claim), value: claimValue(claim, key), expect: 0 })),
    ...[...before]
      .filter(claim => !after.has(claim))
      .map(claim => ({ is: 'delete' as const, key: claimKey(resource, claim) })),
  ];
}
