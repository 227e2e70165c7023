import type { Strategy } from '../../../core/api/strategy.js';
import { absent, at, fill, list, spec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { ingressStatusViolations } from '../validation/statuses.js';
import { fixed } from '../validation/workload.js';

const ingress = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  validateStatus: ingressStatusViolations,
});

const ingressClass = (): Partial<Strategy> => ({
  hasGeneration: true,
  validateUpdate: (object, old) => fixed(at(object, 'spec'), at(old, 'spec'), 'controller', 'spec.controller'),
  defaults: object => {
    const parameters = at(object, 'spec', 'parameters');
    if (parameters) fill(parameters, 'scope', 'Cluster');
  },
});

const networkPolicy = (): Partial<Strategy> => ({
  hasGeneration: true,
  defaults: object => {
    const s = spec(object);
    const egress = list(s, 'egress');
    for (const rule of [...list(s, 'ingress'), ...egress])
      for (const port of list(rule, 'ports')) fill(port, 'protocol', 'TCP');
    if (absent(s.policyTypes) || (Array.isArray(s.policyTypes) && s.policyTypes.length === 0)) {
      s.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
});

/** Kinds of the networking group. */
export const networkingKinds: KindTable = {
  'networking.orchestrator.io/ingresses': ingress,
  'networking.orchestrator.io/ingressclasses': ingressClass,
  'networking.orchestrator.io/networkpolicies': networkPolicy,
  'networking.orchestrator.io/servicecidrs': () => ({ hasStatus: true }),
};
