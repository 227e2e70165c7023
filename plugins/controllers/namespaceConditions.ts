import type { ApiObject, Host } from '../../core/api/index.js';

type Naming = Host['naming'];
import type { ControlledResource } from './catalog.js';

/** A condition of a namespace's status (upstream NamespaceCondition). */
export interface Condition {
  type: string;
  status: 'True' | 'False';
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** What one pass over a namespace left behind. */
export interface Leftovers {
  /** Refusals of deletions, one text each. */
  readonly failures: readonly string[];
  readonly remaining: readonly { readonly resource: ControlledResource; readonly objects: readonly ApiObject[] }[];
}

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

function contentFailure({ failures }: Leftovers): Finding {
  const type = 'NamespaceDeletionContentFailure';
  if (failures.length === 0) {
    const message = 'All content successfully deleted, may be waiting on finalization';
    return { type, status: 'False', reason: 'ContentDeleted', message };
  }
  const message = `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`;
  return { type, status: 'True', reason: 'ContentDeletionFailed', message };
}

function contentRemaining({ remaining }: Leftovers): Finding {
  const type = 'NamespaceContentRemaining';
  if (remaining.length === 0) {
    return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' };
  }
  const counts = remaining
    .map(({ resource, objects }) => `${resource.plural}.${groupOf(resource.apiVersion)} has ${objects.length} resource instances`)
    .sort();
  return { type, status: 'True', reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${counts.join(', ')}` };
}

function finalizersRemaining({ remaining }: Leftovers): Finding {
  const type = 'NamespaceFinalizersRemaining';
  const held = new Map<string, number>();
  for (const finalizer of remaining.flatMap(r => r.objects).flatMap(object => object.metadata.finalizers ?? [])) {
    held.set(finalizer, (held.get(finalizer) ?? 0) + 1);
  }
  if (held.size === 0) {
    const message = 'All content-preserving finalizers finished';
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message };
  }
  const counts = [...held].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  const message = `Some content in the namespace has finalizers remaining: ${counts.join(', ')}`;
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message };
}

const findings = (left: Leftovers, naming: Naming): readonly Finding[] => [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: `All legacy ${naming.short} types successfully parsed`,
  },
  contentFailure(left),
  contentRemaining(left),
  finalizersRemaining(left),
];

/** The conditions after a pass, or undefined if they say the same as before. `now` is RFC 3339; a time changes only with its status. */
export function nextConditions(
  current: readonly Condition[],
  left: Leftovers,
  naming: Naming,
  now: string,
): Condition[] | undefined {
  const next = [...current];
  let changed = false;
  for (const finding of findings(left, naming)) {
    const at = next.findIndex(condition => condition.type === finding.type);
    const old = next[at];
    if (old && old.status === finding.status && old.reason === finding.reason && old.message === finding.message) continue;
    changed = true;
    const { type, status, reason, message } = finding;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    next.splice(at < 0 ? next.length : at, at < 0 ? 0 : 1, { type, status, lastTransitionTime, reason, message });
  }
  return changed ? next : undefined;
}
