import {
  type ApiObject,
  type Condition,
  type ConditionUpdate,
  type Frozen,
  type Host,
  type ServedResource,
  withCondition,
} from '../../../core/api/index.js';

type Naming = Host['naming'];

/** The content of a namespace that remains after an attempt to delete it. */
export interface RemainingContent {
  /** Messages of failed deletions. */
  readonly failures: readonly string[];
  readonly remaining: readonly {
    readonly resource: Pick<ServedResource, 'apiVersion' | 'plural'>;
    readonly objects: readonly Frozen<ApiObject>[];
  }[];
  /** Versions whose servers have not answered discovery. */
  readonly undiscovered: readonly string[];
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

function discoveryFailure({ undiscovered }: RemainingContent): ConditionUpdate {
  const type = 'NamespaceDeletionDiscoveryFailure';
  if (undiscovered.length === 0)
    return { type, status: 'False', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' };
  return { type, status: 'True', reason: 'DiscoveryFailed', message: discoveryFailureMessage(undiscovered) };
}

/** The message for versions whose servers have not answered discovery, in upstream's words. */
export function discoveryFailureMessage(undiscovered: readonly string[]): string {
  const versions = undiscovered.toSorted().map(version => `${version}: stale GroupVersion discovery: ${version}`);
  const error = `unable to retrieve the complete list of server APIs: ${versions.join(', ')}`;
  return `Discovery failed for some groups, ${versions.length} failing: ${error}`;
}

function contentFailure({ failures }: RemainingContent): ConditionUpdate {
  const type = 'NamespaceDeletionContentFailure';
  if (failures.length === 0) {
    const message = 'All content successfully deleted, may be waiting on finalization';
    return { type, status: 'False', reason: 'ContentDeleted', message };
  }
  const message =
    `Failed to delete all resource types, ${failures.length} remaining: ` + `${[...failures].sort().join(', ')}`;
  return { type, status: 'True', reason: 'ContentDeletionFailed', message };
}

function contentRemaining({ remaining }: RemainingContent): ConditionUpdate {
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

function finalizersRemaining({ remaining }: RemainingContent): ConditionUpdate {
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

const conditionUpdates = (content: RemainingContent, naming: Naming): readonly ConditionUpdate[] => [
  discoveryFailure(content),
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: `All legacy ${naming.short} types successfully parsed`,
  },
  contentFailure(content),
  contentRemaining(content),
  finalizersRemaining(content),
];

/** The new conditions of a namespace, or undefined if they have not changed. `now` is in RFC 3339. */
export function nextConditions(
  current: readonly Condition[],
  content: RemainingContent,
  naming: Naming,
  now: string,
): readonly Condition[] | undefined {
  const next = conditionUpdates(content, naming).reduce(
    (conditions, update) => withCondition(conditions, update, now),
    current,
  );
  return next === current ? undefined : next;
}
