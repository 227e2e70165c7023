import type { Strategy, StrategyContext } from '../../../../../core/api/strategy.js';
import { dns1123Label } from '../../../../../core/model/names.js';
import type { ApiObject, ObjectMeta } from '../../../../../core/model/object.js';
import { isInteger, quantityOf } from '../../../../../core/model/quantity.js';
import { isAbsent } from '../../../../../core/model/record.js';
import type {
  Container,
  EphemeralContainer,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  ResourceRequirements,
  TopologySpreadConstraint,
} from '../../../../../kinds/v1.js';
import type { Naming } from '../../../../../core/naming.js';
import { appArmorWarnings } from '../appArmor.js';
import { VISITED_CONTAINERS } from '../containerLists.js';
import { containerSeccompWarnings, podSeccompWarnings } from '../seccomp.js';
import { sourceWarnings } from '../../volumes/volumeWarnings.js';
import { nodeLabelWarnings, topologyKeyWarnings } from './nodeLabelWarnings.js';
import { pathWarnings } from './pathWarnings.js';
import { portWarnings } from './portWarnings.js';

const volumeWarnings = (pod: PodSpec, field: string): string[] =>
  (pod.volumes ?? []).flatMap((volume, i) => sourceWarnings(volume, `${field}.volumes[${i}]`));

/** A variable that is defined again replaces the earlier one, unless its value refers to it. */
function hiddenVariableWarnings(container: Container | EphemeralContainer, field: string): string[] {
  const seen = new Set<string>();
  return (container.env ?? []).flatMap((variable, i) => {
    const name = variable.name;
    const [value, reference] = [variable.value ?? '', `$(${name})`];
    const hides = variable.valueFrom || value === reference || !value.includes(reference);
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
const fractionWarnings = (resources: ResourceRequirements | undefined, field: string): string[] =>
  (['memory', 'ephemeral-storage'] as const).flatMap(name =>
    (['limits', 'requests'] as const).flatMap(member => {
      const amount = resources?.[member]?.[name];
      return isAbsent(amount) || isInteger(quantityOf(amount))
        ? []
        : [
            `${field}.${member}[${name}]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
          ];
    }),
  );

const NO_SELECTOR = 'a null labelSelector results in matching no pod';

const missingSelectorWarnings = (owner: PodAffinityTerm | TopologySpreadConstraint, field: string): string[] =>
  owner.labelSelector ? [] : [`${field}.labelSelector: ${NO_SELECTOR}`];

function affinityWarnings(pod: PodSpec, field: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap(kind => {
    const affinity = pod.affinity?.[kind];
    const where = `${field}.affinity.${kind}`;
    const [must, wish] = [
      'requiredDuringSchedulingIgnoredDuringExecution',
      'preferredDuringSchedulingIgnoredDuringExecution',
    ] as const;
    return [
      ...(affinity?.[must] ?? []).flatMap((term, i) => missingSelectorWarnings(term, `${where}.${must}[${i}]`)),
      ...(affinity?.[wish] ?? []).flatMap((term, i) =>
        missingSelectorWarnings(term.podAffinityTerm, `${where}.${wish}[${i}].podAffinityTerm`),
      ),
    ];
  });
}

/** Warnings about items whose member has the value of an earlier one: `ip` of `hostAliases`. */
function repeatedWarnings(values: readonly string[], list: string, member: string): string[] {
  const seen = new Set<string>();
  return values.flatMap((value, i) => {
    const known = seen.has(value);
    seen.add(value);
    return known ? [`${list}[${i}].${member}: duplicate ${member} ${JSON.stringify(value)}`] : [];
  });
}

const emptySecretWarnings = (pod: PodSpec, field: string): string[] =>
  (pod.imagePullSecrets ?? []).flatMap((secret, i) =>
    (secret.name ?? '') === '' ? [`${field}.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
  );

function containerWarnings(metadata: ObjectMeta, pod: PodSpec, field: string, naming: Naming): string[] {
  const ofMetadata = metadataOf(field);
  return VISITED_CONTAINERS.flatMap(member =>
    (pod[member] ?? []).flatMap((container: Container | EphemeralContainer, i) => {
      const where = `${field}.${member}[${i}]`;
      return [
        ...containerSeccompWarnings(metadata, container, ofMetadata, naming),
        ...appArmorWarnings(metadata, pod, container, ofMetadata, naming),
        ...fractionWarnings(container.resources, `${where}.resources`),
        ...hiddenVariableWarnings(container, where),
      ];
    }),
  );
}

/** The field of the metadata that belongs to a spec. */
const metadataOf = (field: string): string => field.replace(/spec$/, 'metadata');

/** Warnings about a valid pod spec, whose place in its object is `field`. */
export function podWarnings(
  { metadata, spec: pod }: Pick<PodTemplateSpec, 'metadata' | 'spec'>,
  field: string,
  naming: Naming,
  context: StrategyContext,
): string[] {
  const spreads = (pod.topologySpreadConstraints ?? []).flatMap((spread, i) => {
    const where = `${field}.topologySpreadConstraints[${i}]`;
    return [...topologyKeyWarnings(spread, where, naming), ...missingSelectorWarnings(spread, where)];
  });
  const isNegative = (pod.terminationGracePeriodSeconds ?? 0) < 0;
  return [
    ...nodeLabelWarnings(pod, field, naming),
    ...spreads,
    ...volumeWarnings(pod, field),
    ...pathWarnings(pod, field, context),
    ...repeatedWarnings(
      (pod.hostAliases ?? []).map(({ ip }) => ip),
      `${field}.hostAliases`,
      'ip',
    ),
    ...repeatedWarnings(
      (pod.imagePullSecrets ?? []).map(({ name }) => name ?? ''),
      `${field}.imagePullSecrets`,
      'name',
    ),
    ...emptySecretWarnings(pod, field),
    ...podSeccompWarnings(metadata, pod, metadataOf(field), naming),
    ...containerWarnings(metadata, pod, field, naming),
    ...portWarnings(pod, field),
    ...(isNegative
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(pod, field),
  ];
}

/** A strategy that warns about new objects whose name is not a valid host name; `what` says where the name is used. */
export function warnAboutName<T extends ApiObject>(strategy: Partial<Strategy<T>>, what: string): Partial<Strategy<T>> {
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
