import { mayInNamespace } from './access.js';
import { findKind } from './kinds.js';

/** The resource of decisions, where the server has it: group and plural name. */
export const DECISIONS = ['why.capstan', 'decisions'] as const;

/** Whether the server says why it has decided, and the user may read that. */
export function mayReadDecisions(): boolean {
  const kind = findKind(...DECISIONS);
  return kind !== undefined && mayInNamespace('list', kind);
}
