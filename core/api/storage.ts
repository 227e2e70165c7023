import { requireMembers } from './checks/parts.js';
import { type Contributed, definePoint } from './point.js';
import { CheckedStorage } from './storage/calls.js';
import { StoreError } from './storage/errors.js';
import type { Storage } from './storage/types.js';

export type {
  Stored,
  Operation,
  Transaction,
  Outcome,
  StoreEvent,
  Page,
  RangeOptions,
  Shared,
  Storage,
} from './storage/types.js';

export { Compacted, FutureRevision, lostData, StoreError, Unavailable } from './storage/errors.js';
export { unreadableValue } from './storage/unreadable.js';

function exactlyOne(inputs: readonly Contributed<Storage>[]): Storage {
  const [only, second] = inputs;
  if (only && !second) return only.isBuiltIn ? only.value : new CheckedStorage(only);
  const names = inputs.map(({ plugin }) => plugin).join(', ');
  throw new StoreError(`exactly one storage plugin is needed, found ${inputs.length}${names && `: ${names}`}`);
}

/**
 * Where objects are stored. Exactly one is used: one of the configuration replaces that of the server. Only the writer
 * thread uses it.
 *
 * @example
 * contribute: config => [storage.of(host => openStore(config.path, host.now))],
 */
export const storage = definePoint<Storage>()(
  'storage',
  ['writer'],
  exactlyOne,
  requireMembers({ name: 'string', commit: 'function', range: 'function', watch: 'function' }),
);
