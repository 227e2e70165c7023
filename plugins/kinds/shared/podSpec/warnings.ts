import type { StrategyContext, Strategy } from '../../../../core/api/strategy.js';
import { dns1123Label } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isInteger, quantityOf } from '../../../../core/model/quantity.js';
import {
  entriesAt,
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import { CONTAINER_LISTS } from './defaults.js';

/** Volume types that are deprecated or removed. */
const OLD_VOLUMES = new Map([
  ['gitRepo', 'deprecated in v1.11'],
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]);

const volumeWarnings = (pod: UnknownRecord, field: string): string[] =>
  recordsAt(pod, 'volumes').flatMap((volume, i) =>
    [...OLD_VOLUMES]
      .filter(([source]) => recordAt(volume, source))
      .map(([source, why]) => `${field}.volumes[${i}].${source}: ${why}`),
  );

/** A variable that is defined again replaces the earlier one, unless its value refers to it. */
function hiddenVariableWarnings(container: UnknownRecord, field: string): string[] {
  const seen = new Set<string>();
  return recordsAt(container, 'env').flatMap((variable, i) => {
    const name = stringAt(variable, 'name');
    const [value, reference] = [stringAt(variable, 'value'), `$(${name})`];
    const hides = recordAt(variable, 'valueFrom') || value === reference || !value.includes(reference);
    const found =
      seen.has(name) && hides
        ? [
            `${field}.env[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
          ]
        : [];
    seen.add(name);
    return found;
  });
}

/** Amounts of bytes should be whole numbers. */
const fractionWarnings = (container: UnknownRecord, field: string): string[] =>
  ['limits', 'requests'].flatMap(member =>
    entriesAt(container, 'resources', member)
      .filter(([name, amount]) => ['memory', 'ephemeral-storage'].includes(name) && !isInteger(quantityOf(amount)))
      .map(
        ([name, amount]) =>
          `${field}.resources.${member}[${name}]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
      ),
  );

const NO_SELECTOR = 'a null labelSelector results in matching no pod';

const missingSelectorWarnings = (owner: UnknownRecord | undefined, field: string): string[] =>
  recordAt(owner, 'labelSelector') ? [] : [`${field}.labelSelector: ${NO_SELECTOR}`];

function affinityWarnings(pod: UnknownRecord, field: string): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap(kind => {
    const affinity = recordAt(pod, 'affinity', kind);
    const where = `${field}.affinity.${kind}`;
    const [must, wish] = [
      'requiredDuringSchedulingIgnoredDuringExecution',
      'preferredDuringSchedulingIgnoredDuringExecution',
    ];
    return [
      ...recordsAt(affinity, must!).flatMap((term, i) => missingSelectorWarnings(term, `${where}.${must}[${i}]`)),
      ...recordsAt(affinity, wish!).flatMap((term, i) =>
        missingSelectorWarnings(recordAt(term, 'podAffinityTerm'), `${where}.${wish}[${i}].podAffinityTerm`),
      ),
    ];
  });
}

/** Warnings about a valid pod spec. */
function podWarnings(pod: UnknownRecord, field: string): string[] {
  const found = volumeWarnings(pod, field);
  for (const member of CONTAINER_LISTS)
    for (const [i, container] of recordsAt(pod, member).entries()) {
      const where = `${field}.${member}[${i}]`;
      found.push(...fractionWarnings(container, where), ...hiddenVariableWarnings(container, where));
    }
  for (const [i, secret] of recordsAt(pod, 'imagePullSecrets').entries())
    if (stringAt(secret, 'name') === '') found.push(`${field}.imagePullSecrets[${i}].name: invalid empty name ""`);
  if ((numberAt(pod, 'terminationGracePeriodSeconds') ?? 0) < 0)
    found.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  for (const [i, spread] of recordsAt(pod, 'topologySpreadConstraints').entries())
    found.push(...missingSelectorWarnings(spread, `${field}.topologySpreadConstraints[${i}]`));
  return [...found, ...affinityWarnings(pod, field)];
}

/** A strategy that warns about new objects whose name is not a valid host name; `what` says where the name is used. */
export function warnAboutName(strategy: Partial<Strategy>, what: string): Partial<Strategy> {
  return {
    ...strategy,
    validateCreate: (object, context) => {
      const complaints = dns1123Label(object.metadata.name ?? '');
      if (complaints.length > 0)
        context.warn?.(
          `metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${complaints.join(' ')}]`,
        );
      return strategy.validateCreate?.(object, context) ?? [];
    },
  };
}

/** Where the names of workloads are used. */
export const POD_NAMES = 'Pod names and hostnames';

/**
 * A strategy that warns about a valid pod spec at `path` with likely mistakes. There is no warning about a template
 * that an update does not change.
 */
export function warnAboutPodSpec(strategy: Partial<Strategy>, ...path: string[]): Partial<Strategy> {
  const field = path.join('.');
  const warn = (object: ApiObject, context: StrategyContext, found: readonly Violation[]): readonly Violation[] => {
    const pod = recordAt(object, ...path);
    if (pod && context.warn && found.length === 0) for (const text of podWarnings(pod, field)) context.warn(text);
    return found;
  };
  return {
    ...strategy,
    validateCreate: (object, context) => warn(object, context, strategy.validateCreate?.(object, context) ?? []),
    validateUpdate: (object, old, context) => {
      const found = strategy.validateUpdate?.(object, old, context) ?? [];
      // A template that did not change caused its warnings before.
      const kept =
        !isAbsent(recordAt(old, ...path)) &&
        path.length > 1 &&
        isSemanticallyEqual(recordAt(object, ...path), recordAt(old, ...path));
      return kept ? found : warn(object, context, found);
    },
  };
}
