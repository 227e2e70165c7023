import { mayInNamespace } from './access.js';
import { findKind, type Kind } from './kinds.js';
import { systemGroup } from './session.js';

/** The kind of decisions: the outcome of requests, and the reasons. Undefined where the server has none. */
export const decisionKind = (): Kind | undefined =>
  findKind('why.capstan.dev', 'decisions') ?? findKind(systemGroup('why'), 'decisions');

/** Whether the server says why it has decided, and the user may read that. */
export function mayReadDecisions(): boolean {
  const kind = decisionKind();
  return kind !== undefined && mayInNamespace('list', kind);
}
