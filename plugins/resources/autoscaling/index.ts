import type { Strategy } from '../../../core/api/strategy.js';
import type { Naming } from '../../../core/naming.js';
import { absent, at, fill, into, list, type Rec, spec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { autoscalerStatusViolations } from '../validation/statuses.js';
import { convertAutoscaler, cpuMetric } from './hpa-convert.js';

function scalingRules(rules: Rec, policies: readonly Rec[], window?: number): void {
  if (window !== undefined) fill(rules, 'stabilizationWindowSeconds', window);
  fill(rules, 'selectPolicy', 'Max');
  if (list(rules, 'policies').length === 0) rules.policies = structuredClone(policies);
}

/** Scaling up may double or add four pods in 15 s; scaling down may remove everything. */
function behaviorDefaults(behavior: Rec): void {
  scalingRules(
    into(behavior, 'scaleUp'),
    [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
    0,
  );
  scalingRules(into(behavior, 'scaleDown'), [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
}

const autoscaler = (naming: Naming): Partial<Strategy> => ({
  hasStatus: true,
  validateStatus: autoscalerStatusViolations,
  defaults: object => {
    const s = spec(object);
    fill(s, 'minReplicas', 1);
    if (object.apiVersion === 'autoscaling/v1') {
      if (
        absent(s.targetCPUUtilizationPercentage) &&
        !object.metadata.annotations?.[naming.label('autoscaling.alpha.orchestrator.io/metrics')]
      )
        s.targetCPUUtilizationPercentage = 80;
      return;
    }
    if (list(s, 'metrics').length === 0) s.metrics = [cpuMetric(80)];
    const behavior = at(s, 'behavior');
    if (behavior) behaviorDefaults(behavior);
  },
  prepareCreate: object => {
    if (object.apiVersion === 'autoscaling/v1') object.status = { currentReplicas: 0, desiredReplicas: 0 };
    else delete object.status;
  },
  convert: (object, apiVersion) => convertAutoscaler(object, apiVersion, naming),
});

/** Kinds of the autoscaling group. */
export const autoscalingKinds: KindTable = { 'autoscaling/horizontalpodautoscalers': autoscaler };
