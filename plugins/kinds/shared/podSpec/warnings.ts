import type { StrategyContext, Strategy } from '../../../../core/api/strategy.js';
import { dns1123Label } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isInteger, quantityOf } from '../../../../core/model/quantity.js';
import {
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { sourceWarnings } from '../volumeWarnings.js';
import { nodeLabelWarnings, topologyKeyWarnings } from './nodeLabelWarnings.js';
import { pathWarnings } from './pathWarnings.js';
import { portWarnings } from './portWarnings.js';

const volumeWarnings = (pod: UnknownRecord, field: string): string[] =>
  recordsAt(pod, 'volumes').flatMap((volume, i) => sourceWarnings(volume, `${field}.volumes[${i}]`));

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
const fractionWarnings = (resources: UnknownRecord | undefined, field: string): string[] =>
  ['memory', 'ephemeral-storage'].flatMap(name =>
    ['limits', 'requests'].flatMap(member => {
      const amount = valueAt(resources, member, name);
      return isAbsent(amount) || isInteger(quantityOf(amount))
        ? []
        : [
            `${field}.${member}[${name}]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
          ];
    }),
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

/** Warnings about items with a member that an earlier one has: `ip` of `hostAliases`. */
function repeatedWarnings(pod: UnknownRecord, list: string, member: string, field: string): string[] {
  const seen = new Set<string>();
  return recordsAt(pod, list).flatMap((item, i) => {
    const value = stringAt(item, member);
    const known = seen.has(value);
    seen.add(value);
    return known ? [`${field}.${list}[${i}].${member}: duplicate ${member} ${JSON.stringify(value)}`] : [];
  });
}

const emptySecretWarnings = (pod: UnknownRecord, field: string): string[] =>
  recordsAt(pod, 'imagePullSecrets').flatMap((secret, i) =>
    stringAt(secret, 'name') === '' ? [`${field}.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
  );

/** Upstream visits the containers in this order. */
const VISITED = ['initContainers', 'containers', 'ephemeralContainers'];

const containerWarnings = (pod: UnknownRecord, field: string): string[] =>
  VISITED.flatMap(member =>
    recordsAt(pod, member).flatMap((container, i) => {
      const where = `${field}.${member}[${i}]`;
      return [
        ...fractionWarnings(recordAt(container, 'resources'), `${where}.resources`),
        ...hiddenVariableWarnings(container, where),
      ];
    }),
  );

/** Warnings about a valid pod spec. */
function podWarnings(pod: UnknownRecord, field: string, naming: Naming): string[] {
  const spreads = recordsAt(pod, 'topologySpreadConstraints').flatMap((spread, i) => {
    const where = `${field}.topologySpreadConstraints[${i}]`;
    return [...topologyKeyWarnings(spread, where, naming), ...missingSelectorWarnings(spread, where)];
  });
  const isNegative = (numberAt(pod, 'terminationGracePeriodSeconds') ?? 0) < 0;
  return [
    ...nodeLabelWarnings(pod, field, naming),
    ...spreads,
    ...volumeWarnings(pod, field),
    ...pathWarnings(pod),
    ...repeatedWarnings(pod, 'hostAliases', 'ip', field),
    ...repeatedWarnings(pod, 'imagePullSecrets', 'name', field),
    ...emptySecretWarnings(pod, field),
    ...containerWarnings(pod, field),
    ...portWarnings(pod, field),
    ...(isNegative
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(pod, field),
  ];
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

/** Whether an update leaves what the warnings of an object were about, so that they are not repeated. */
type IsSame = (object: ApiObject, old: ApiObject) => boolean;

const hasSameGeneration: IsSame = (object, old) => object.metadata.generation === old.metadata.generation;

function warnUnlessSame(
  strategy: Partial<Strategy>,
  naming: Naming,
  path: readonly string[],
  isSame: IsSame,
): Partial<Strategy> {
  const field = path.join('.');
  const warn = (object: ApiObject, context: StrategyContext, found: readonly Violation[]): readonly Violation[] => {
    const pod = recordAt(object, ...path);
    if (pod && context.warn && found.length === 0)
      for (const text of new Set(podWarnings(pod, field, naming))) context.warn(text);
    return found;
  };
  return {
    ...strategy,
    validateCreate: (object, context) => warn(object, context, strategy.validateCreate?.(object, context) ?? []),
    validateUpdate: (object, old, context) => {
      const found = strategy.validateUpdate?.(object, old, context) ?? [];
      return isSame(object, old) ? found : warn(object, context, found);
    },
  };
}

/**
 * A strategy that warns about a valid pod spec at `path` with likely mistakes: in a pod always, in another object if
 * its spec has changed.
 */
export const warnAboutPodSpec = (
  strategy: Partial<Strategy>,
  naming: Naming,
  ...path: readonly string[]
): Partial<Strategy> => warnUnlessSame(strategy, naming, path, path.length === 1 ? () => false : hasSameGeneration);

/** As warnAboutPodSpec, but only if the template itself has changed. */
export const warnAboutChangedTemplate = (strategy: Partial<Strategy>, naming: Naming): Partial<Strategy> =>
  warnUnlessSame(strategy, naming, ['spec', 'template', 'spec'], (object, old) =>
    isSemanticallyEqual(recordAt(object, 'spec', 'template'), recordAt(old, 'spec', 'template')),
  );
