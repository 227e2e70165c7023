import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isAbsent, recordsAt, setDefault, specOf, valueAt } from '../../../core/model/record.js';
import { AGE, column, NAME, selectorText } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Pod-Selector', object => selectorText(valueAt(object, 'spec', 'podSelector'))),
  AGE,
];

/** NetworkPolicy. The default type is Ingress, and Egress if it has egress rules. */
export const networkPolicy = builtInKind('networking.orchestrator.io/networkpolicies', () => ({
  hasGeneration: true,
  applyDefaults: object => {
    const spec = specOf(object);
    const egress = recordsAt(spec, 'egress');
    for (const rule of [...recordsAt(spec, 'ingress'), ...egress])
      for (const port of recordsAt(rule, 'ports')) setDefault(port, 'protocol', 'TCP');
    if (isAbsent(spec.policyTypes) || (Array.isArray(spec.policyTypes) && spec.policyTypes.length === 0)) {
      spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
  columns: COLUMNS,
}));
