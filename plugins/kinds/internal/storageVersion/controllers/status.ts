import type { ServerStorageVersion, StorageVersionStatus } from '../../../../../kinds/apiserverinternal/v1alpha1.js';
import { type Frozen, timestamp } from '../../../../../core/api/index.js';
import { commonEncodingVersionOf } from '../index.js';

const EQUAL = 'AllEncodingVersionsEqual';

/**
 * The status of a StorageVersion with the versions of these servers. The time of the condition changes with its status,
 * and with the common version.
 */
export function statusOf(
  storageVersions: readonly Frozen<ServerStorageVersion>[],
  before: Frozen<StorageVersionStatus> | undefined,
  now: number,
): Frozen<StorageVersionStatus> {
  const common = commonEncodingVersionOf(storageVersions);
  const [status, word] = common === undefined ? (['False', 'Unset'] as const) : (['True', 'Set'] as const);
  const conditions = before?.conditions ?? [];
  const old = conditions.find(({ type }) => type === EQUAL);
  const isSame = old?.status === status && (before?.commonEncodingVersion ?? common) === common;
  const condition = {
    type: EQUAL,
    status,
    lastTransitionTime: isSame ? old.lastTransitionTime : timestamp(now),
    reason: `CommonEncodingVersion${word}`,
    message: `Common encoding version ${word.toLowerCase()}`,
  };
  return {
    storageVersions,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: old ? conditions.map(one => (one === old ? condition : one)) : [...conditions, condition],
  };
}
