import type { StoreEvent } from '../../core/api/storage.js';

/** Past changes up to a revision: the first ones of those that were asked for, if they have many bytes. */
export interface Past {
  readonly events: readonly StoreEvent[];
  readonly revision: number;
}

/** The bytes that an event keeps in memory. */
export const bytesOf = ({ key, value, previous }: StoreEvent): number =>
  key.length + (value?.length ?? 0) + (previous?.value.length ?? 0);
