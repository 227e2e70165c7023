import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  HPAScalingPolicy,
} from '../../../../kinds/autoscaling/v2.js';
import { isAbsent } from '../../../../core/model/record.js';
import { forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateMetric, validateTarget } from './metrics.js';
import { validateEach, validateOneOf } from '../../shared/violations.js';

/** The longest time, in seconds, that scaling can be stabilized. */
const LONGEST_WINDOW = 3600;

/** The longest time, in seconds, for which a policy limits scaling. */
const LONGEST_PERIOD = 1800;

function validatePolicy(policy: HPAScalingPolicy, field: string): Violation[] {
  const [value = 0, period = 0] = [policy.value, policy.periodSeconds];
  const found = validateOneOf(policy, 'type', `${field}.type`, ['Percent', 'Pods']);
  if (value <= 0) found.push(invalid(`${field}.value`, value, 'must be greater than zero'));
  if (period <= 0) found.push(invalid(`${field}.periodSeconds`, period, 'must be greater than zero'));
  if (period > LONGEST_PERIOD)
    found.push(invalid(`${field}.periodSeconds`, period, `must be less than or equal to ${LONGEST_PERIOD}`));
  return found;
}

function validateScaling(rules: HPAScalingRules | undefined, field: string): Violation[] {
  if (!rules) return [];
  const found: Violation[] = [];
  const window = rules.stabilizationWindowSeconds ?? 0;
  const where = `${field}.stabilizationWindowSeconds`;
  if (window < 0) found.push(invalid(where, window, 'must be greater than or equal to zero'));
  if (window > LONGEST_WINDOW) found.push(invalid(where, window, `must be less than or equal to ${LONGEST_WINDOW}`));
  if (!isAbsent(rules.selectPolicy))
    found.push(...validateOneOf(rules, 'selectPolicy', `${field}.selectPolicy`, ['Disabled', 'Max', 'Min']));
  if ((rules.policies ?? []).length === 0)
    found.push(required(`${field}.policies`, 'must specify at least one Policy'));
  return [...found, ...validateEach(rules, 'policies', `${field}.policies`, validatePolicy)];
}

function validateReplicas(spec: HorizontalPodAutoscalerSpec): Violation[] {
  const [least, most = 0] = [spec.minReplicas, spec.maxReplicas];
  const found: Violation[] = [];
  if (least !== undefined && least < 1)
    found.push(invalid('spec.minReplicas', least, 'must be greater than or equal to 1'));
  if (most < 1) found.push(invalid('spec.maxReplicas', most, 'must be greater than 0'));
  if (least !== undefined && most < least)
    found.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  return found;
}

/** Violations of an autoscaler in version v2. */
export function validateAutoscaler(object: HorizontalPodAutoscaler): Violation[] {
  const spec = object.spec;
  const canScaleToZero = (spec.metrics ?? []).some(metric => ['Object', 'External'].includes(metric.type));
  return [
    ...validateReplicas(spec),
    ...validateTarget(spec.scaleTargetRef, 'spec.scaleTargetRef'),
    ...validateEach(spec, 'metrics', 'spec.metrics', validateMetric),
    ...(spec.minReplicas === 0 && !canScaleToZero
      ? [
          forbiddenField(
            'spec.metrics',
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
    ...validateScaling(spec.behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateScaling(spec.behavior?.scaleDown, 'spec.behavior.scaleDown'),
  ];
}
