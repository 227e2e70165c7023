import type { ApiObject, Host } from '../../core/api/index.js';
import type { ControlledResource } from './catalog.js';
import { type Condition, type Finding, withCondition } from './conditions.js';

type Naming = Host['naming'];

/** What one pass over a namespace left behind. */
export interface Leftovers {
  /** Refusals of deletions, one text each. */
  readonly failures: readonly string[];
  readonly remaining: readonly { readonly resource: ControlledResource; readonly objects: readonly ApiObject[] }[];
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

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
    .map(
      ({ resource, objects }) =>
        `${resource.plural}.${groupOf(resource.apiVersion)} has ${objects.length} resource instances`,
    )
    .sort();
  return {
    type,
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${counts.join(', ')}`,
  };
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

/** The conditions after a pass, or undefined if they say the same as before. `now` is RFC 3339. */
export function nextConditions(
  current: readonly Condition[],
  left: Leftovers,
  naming: Naming,
  now: string,
): readonly Condition[] | undefined {
  const next = findings(left, naming).reduce((conditions, finding) => withCondition(conditions, finding, now), current);
  return next === current ? undefined : next;
}
