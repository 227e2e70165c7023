import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isAbsent, recordsAt, setDefault, specOf, valueAt } from '../../../core/model/record.js';
import { AGE, column, NAME, selectorText } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Pod-Selector', object => selectorText(valueAt(object, 'spec', 'podSelector'))),
  AGE,
];

export const networkPolicy = builtInKind('networking.orchestrator.io/networkpolicies', () => ({
  hasGeneration: true,
  applyDefaults: object => {
    const s = specOf(object);
    const egress = recordsAt(s, 'egress');
    for (const rule of [...recordsAt(s, 'ingress'), ...egress])
      for (const port of recordsAt(rule, 'ports')) setDefault(port, 'protocol', 'TCP');
    if (isAbsent(s.policyTypes) || (Array.isArray(s.policyTypes) && s.policyTypes.length === 0)) {
      s.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
  columns: COLUMNS,
}));
