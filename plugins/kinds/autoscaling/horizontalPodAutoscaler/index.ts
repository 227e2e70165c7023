import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  ensureRecord,
  isAbsent,
  recordAt,
  recordsAt,
  replaceMembers,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { convertAutoscaler, cpuMetric, DEFAULT_CPU_PERCENT, isCarried, normalizeCarried } from './conversion.js';
import { METRIC_SOURCES } from './metricForms.js';
import { AGE, type Cell, column, integerCell, NAME, scalarCell, shortList, textOf } from '../../shared/columns.js';
import { validateAutoscaler } from './validation.js';
import { validateNotNegative } from '../../shared/violations.js';
import { setIfAbsent } from '../../shared/defaults.js';

const UNKNOWN = '<unknown>';

/** The text for a missing value. */
const UNSET_QUANTITY = '<nil>';

/** `current/target` of a metric. Resource metrics begin with the name of the resource. */
function metricText(metric: unknown, current: unknown): string {
  const type = stringAt(metric, 'type');
  const source = METRIC_SOURCES.get(type);
  if (source === undefined) return '<unknown type>';
  const spec = valueAt(metric, source);
  const target = valueAt(spec, 'target');
  const now = valueAt(current, source, 'current');
  const average = valueAt(target, 'averageValue');
  const unmeasured = valueAt(current, source) === undefined ? UNKNOWN : UNSET_QUANTITY;
  if (type === 'Resource' || type === 'ContainerResource') {
    const name = stringAt(spec, 'name');
    if (average !== undefined)
      return `${name}: ${textOf(valueAt(now, 'averageValue'), unmeasured)}/${textOf(average, '')}`;
    const used = valueAt(now, 'averageUtilization');
    const wanted = valueAt(target, 'averageUtilization');
    return `${name}: ${typeof used === 'number' ? `${used}%` : UNKNOWN}/${typeof wanted === 'number' ? `${wanted}%` : '<auto>'}`;
  }
  if (type === 'Pods') return `${textOf(valueAt(now, 'averageValue'), unmeasured)}/${textOf(average, UNSET_QUANTITY)}`;
  if (average !== undefined) return `${textOf(valueAt(now, 'averageValue'), UNKNOWN)}/${textOf(average, '')} (avg)`;
  return `${textOf(valueAt(now, 'value'), unmeasured)}/${textOf(valueAt(target, 'value'), UNSET_QUANTITY)}`;
}

const targetsCell: Cell = object => {
  const current = recordsAt(object, 'status', 'currentMetrics');
  const metrics = recordsAt(object, 'spec', 'metrics').map((metric, i) => metricText(metric, current[i]));
  const cpu = valueAt(object, 'spec', 'targetCPUUtilizationPercentage');
  if (typeof cpu === 'number') {
    const used = valueAt(object, 'status', 'currentCPUUtilizationPercentage');
    metrics.push(`cpu: ${typeof used === 'number' ? `${used}%` : UNKNOWN}/${cpu}%`);
  }
  return shortList(metrics, 2, '<none>', ', ');
};

/** The columns of the kind. */
export const COLUMNS: readonly Column[] = [
  NAME,
  column('Reference', object => {
    const target = valueAt(object, 'spec', 'scaleTargetRef');
    return `${stringAt(target, 'kind')}/${stringAt(target, 'name')}`;
  }),
  column('Targets', targetsCell),
  column('MinPods', scalarCell('spec.minReplicas', '<unset>')),
  column('MaxPods', integerCell('spec.maxReplicas')),
  column('Replicas', integerCell('status.currentReplicas')),
  AGE,
];

function setScalingDefaults(rules: UnknownRecord, policies: readonly UnknownRecord[], window?: number): void {
  if (window !== undefined) setDefault(rules, 'stabilizationWindowSeconds', window);
  setIfAbsent(rules, 'selectPolicy', 'Max');
  if (isAbsent(rules.policies)) rules.policies = structuredClone(policies);
}

/**
 * The default behavior: scaling up may double the number of pods or add four in 15 seconds; scaling down may remove
 * all.
 */
function setBehaviorDefaults(behavior: UnknownRecord): void {
  setScalingDefaults(
    ensureRecord(behavior, 'scaleUp'),
    [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
    0,
  );
  setScalingDefaults(ensureRecord(behavior, 'scaleDown'), [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
}

/** Violations of the status of a HorizontalPodAutoscaler. */
const validateAutoscalerStatus = (object: ApiObject): Violation[] =>
  ['currentReplicas', 'desiredReplicas'].flatMap(member =>
    validateNotNegative(recordAt(object, 'status'), member, `status.${member}`),
  );

/** Keeps a part that a write does not change: v1 has some of it in annotations, which the write may lack. */
function keepPart(object: ApiObject, old: ApiObject, part: 'spec' | 'status', naming: Naming): void {
  if (object.apiVersion !== 'autoscaling/v1') return;
  const whole = convertAutoscaler(object, 'autoscaling/v2', naming);
  const kept = { ...whole, [part]: convertAutoscaler(old, 'autoscaling/v2', naming)[part] };
  replaceMembers(object, convertAutoscaler(kept, 'autoscaling/v1', naming));
}

/** HorizontalPodAutoscaler, which is converted between two versions. */
export const horizontalPodAutoscaler = builtInKind('autoscaling/horizontalpodautoscalers', naming => ({
  hasStatus: true,
  validateCreate: object => validateAutoscaler(convertAutoscaler(object, 'autoscaling/v2', naming)),
  validateUpdate: object => validateAutoscaler(convertAutoscaler(object, 'autoscaling/v2', naming)),
  validateStatus: validateAutoscalerStatus,
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(spec, 'minReplicas', 1);
    if (object.apiVersion === 'autoscaling/v1') {
      normalizeCarried(object, naming);
      if (isAbsent(specOf(object).targetCPUUtilizationPercentage) && !isCarried(object, 'metrics', naming))
        specOf(object).targetCPUUtilizationPercentage = DEFAULT_CPU_PERCENT;
      return;
    }
    if (recordsAt(spec, 'metrics').length === 0) spec.metrics = [cpuMetric(DEFAULT_CPU_PERCENT)];
    const behavior = recordAt(spec, 'behavior');
    if (behavior) setBehaviorDefaults(behavior);
  },
  prepareCreate: object => {
    if (object.apiVersion === 'autoscaling/v1') object.status = { currentReplicas: 0, desiredReplicas: 0 };
    else delete object.status;
  },
  prepareUpdate: (object, old) => keepPart(object, old, 'status', naming),
  prepareStatus: (object, old) => keepPart(object, old, 'spec', naming),
  convert: (object, apiVersion) => convertAutoscaler(object, apiVersion, naming),
  columns: COLUMNS,
}));
