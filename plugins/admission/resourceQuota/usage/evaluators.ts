import type { Naming } from '../../../../core/naming.js';
import { countEvaluator, type Evaluator } from './evaluator.js';
import { claimEvaluator, serviceEvaluator } from './servicesAndClaims.js';
import { podEvaluator } from './pods.js';

/** Finds the evaluator of a resource. Groups are as clients name them. */
export type EvaluatorOf = (group: string, plural: string) => Evaluator;

/** The evaluators of all resources. Evaluators that only count objects are made when they are first needed. */
export function evaluators(naming: Naming): EvaluatorOf {
  const known = new Map<string, Evaluator>([
    ['/pods', podEvaluator(naming)],
    ['/services', serviceEvaluator],
    ['/persistentvolumeclaims', claimEvaluator(naming)],
  ]);
  return (group, plural) => {
    const key = `${group}/${plural}`;
    let evaluator = known.get(key);
    if (!evaluator) known.set(key, (evaluator = countEvaluator(group, plural)));
    return evaluator;
  };
}
