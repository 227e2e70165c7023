import type { ApiObject } from '../model/object.js';

/** Condition of a row: tells clients that what it shows has ended. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

const ENDED: ReadonlyMap<unknown, RowCondition> = new Map([
  ['Succeeded', { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ['Failed', { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
]);

/** The conditions of a row; only pods have any. */
export function rowConditions(storageName: string, object: ApiObject): readonly RowCondition[] {
  if (storageName !== 'core/pods') return [];
  const { status } = object;
  const phase = typeof status === 'object' && status !== null && 'phase' in status ? status.phase : undefined;
  const condition = ENDED.get(phase);
  return condition ? [condition] : [];
}
