import { Gauge, type Registry } from 'prom-client';
import type { FeatureState } from '../../features/gates.js';
import type { Naming } from '../../naming.js';

/** Registers the gauge of feature gates: 1 for those that are on, by name and stage, which is empty for stable ones. */
export function registerFeatureMetrics(registry: Registry, naming: Naming, states: readonly FeatureState[]): void {
  const gauge = new Gauge({
    name: naming.variable('orchestrator_feature_enabled'),
    help: 'Whether a feature gate is on, by its stage in the release.',
    labelNames: ['name', 'stage'],
    registers: [registry],
  });
  for (const { name, stage, isEnabled } of states)
    gauge.set({ name, stage: stage === 'ga' ? '' : stage.toUpperCase() }, isEnabled ? 1 : 0);
}
