import type { HorizontalPodAutoscaler as AutoscalerV1 } from '../../../../kinds/autoscaling/v1.js';
import type {
  HPAScalingPolicy,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  MetricStatus,
  MetricSpec,
  HPAScalingRules,
} from '../../../../kinds/autoscaling/v2.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { isAbsent, replaceMembers, setDefault } from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import {
  asV1,
  asV2,
  type Autoscaler,
  cpuMetric,
  DEFAULT_CPU_PERCENT,
  isCarried,
  isV1,
  normalizeCarried,
} from './conversion.js';
import { METRIC_SOURCES, type NewerSource } from './metricForms.js';
import { scalarText, AGE, type Cell, column, NAME, shortList, textOf } from '../../shared/columns.js';
import { validateAutoscaler } from './validation.js';
import { validateNotNegative } from '../../shared/violations.js';
import { setIfAbsent } from '../../shared/values/defaults.js';

const UNKNOWN = '<unknown>';

/** The text for a missing value. */
const UNSET_QUANTITY = '<nil>';

/** `current/target` of a metric. Resource metrics begin with the name of the resource. */
function metricText(metric: MetricSpec, current: MetricStatus | undefined): string {
  const type = metric.type;
  const source = METRIC_SOURCES.get(type);
  if (source === undefined) return '<unknown type>';
  const spec: NewerSource | undefined = metric[source];
  const target = spec?.target;
  const measured: NewerSource | undefined = current?.[source];
  const now = measured?.current;
  const average = target?.averageValue;
  const unmeasured = measured === undefined ? UNKNOWN : UNSET_QUANTITY;
  if (type === 'Resource' || type === 'ContainerResource') {
    const name = spec?.name ?? '';
    if (average !== undefined) return `${name}: ${textOf(now?.averageValue, unmeasured)}/${textOf(average, '')}`;
    const used = now?.averageUtilization;
    const wanted = target?.averageUtilization;
    return `${name}: ${typeof used === 'number' ? `${used}%` : UNKNOWN}/${typeof wanted === 'number' ? `${wanted}%` : '<auto>'}`;
  }
  if (type === 'Pods') return `${textOf(now?.averageValue, unmeasured)}/${textOf(average, UNSET_QUANTITY)}`;
  if (average !== undefined) return `${textOf(now?.averageValue, UNKNOWN)}/${textOf(average, '')} (avg)`;
  return `${textOf(now?.value, unmeasured)}/${textOf(target?.value, UNSET_QUANTITY)}`;
}

const targetsCell: Cell<HorizontalPodAutoscaler> = object => {
  const current = object.status?.currentMetrics ?? [];
  const metrics = (object.spec.metrics ?? []).map((metric, i) => metricText(metric, current[i]));
  return shortList(metrics, 2, '<none>', ', ');
};

/** The columns of the kind. */
export const COLUMNS: readonly Column<HorizontalPodAutoscaler>[] = [
  NAME,
  column('Reference', object => {
    const target = object.spec.scaleTargetRef;
    return `${target.kind}/${target.name}`;
  }),
  column('Targets', targetsCell),
  column('MinPods', object => scalarText(object.spec.minReplicas, '<unset>')),
  column('MaxPods', object => object.spec.maxReplicas),
  column('Replicas', object => object.status?.currentReplicas ?? 0),
  AGE,
];

function setScalingDefaults(rules: HPAScalingRules, policies: HPAScalingPolicy[], window?: number): void {
  if (window !== undefined) setDefault(rules, 'stabilizationWindowSeconds', window);
  setIfAbsent(rules, 'selectPolicy', 'Max');
  if (isAbsent(rules.policies)) rules.policies = policies;
}

/**
 * The default behavior: scaling up may double the number of pods or add four in 15 seconds; scaling down may remove
 * all.
 */
function setBehaviorDefaults(behavior: HorizontalPodAutoscalerBehavior): void {
  setScalingDefaults(
    (behavior.scaleUp ??= {}),
    [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
    0,
  );
  setScalingDefaults((behavior.scaleDown ??= {}), [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
}

/** Violations of the status of a HorizontalPodAutoscaler. */
const validateAutoscalerStatus = (object: Autoscaler): Violation[] =>
  (['currentReplicas', 'desiredReplicas'] as const).flatMap(member =>
    validateNotNegative(object.status, member, `status.${member}`),
  );

/** Keeps a part that a write does not change: v1 has some of it in annotations, which the write may lack. */
function keepPart(object: Autoscaler, old: Autoscaler, part: 'spec' | 'status', naming: Naming): void {
  if (!isV1(object)) return;
  const kept = { ...asV2(object, naming), [part]: asV2(old, naming)[part] };
  replaceMembers(object, asV1(kept, naming));
}

function setDefaultsOfV1(object: AutoscalerV1, naming: Naming): void {
  normalizeCarried(object, naming);
  if (object.spec.targetCPUUtilizationPercentage === undefined && !isCarried(object, 'metrics', naming))
    object.spec.targetCPUUtilizationPercentage = DEFAULT_CPU_PERCENT;
}

/** HorizontalPodAutoscaler, which is converted between two versions. Only v2 is shown in columns. */
export const horizontalPodAutoscaler = builtInKind<Autoscaler>('autoscaling/horizontalpodautoscalers', naming => ({
  hasStatus: true,
  validateCreate: object => validateAutoscaler(asV2(object, naming)),
  validateUpdate: object => validateAutoscaler(asV2(object, naming)),
  validateStatus: validateAutoscalerStatus,
  applyDefaults: object => {
    setDefault(object.spec, 'minReplicas', 1);
    if (isV1(object)) return setDefaultsOfV1(object, naming);
    const { spec } = object;
    if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(DEFAULT_CPU_PERCENT)];
    if (spec.behavior) setBehaviorDefaults(spec.behavior);
  },
  prepareCreate: object => {
    if (isV1(object)) object.status = { currentReplicas: 0, desiredReplicas: 0 };
    else delete object.status;
  },
  prepareUpdate: (object, old) => keepPart(object, old, 'status', naming),
  prepareStatus: (object, old) => keepPart(object, old, 'spec', naming),
  convert: (object, apiVersion) => (apiVersion === 'autoscaling/v1' ? asV1 : asV2)(object as Autoscaler, naming),
  // v1 has no distinction between a quantity that is absent and one of 0, nor an order of all metrics.
  restoreStored: (object, stored, subresource) => {
    const part = subresource === 'status' ? 'spec' : 'status';
    Object.assign(object, { [part]: stored[part] });
  },
  columns: COLUMNS,
}));
