import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { recordAt, setDefault, stringAt, valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, NAME, stringCell } from '../shared/columns.js';
import { validateImmutable } from '../shared/violations.js';

const classParameters: Cell = object => {
  const parameters = valueAt(object, 'spec', 'parameters');
  if (parameters === undefined || parameters === null) return '<none>';
  const group = stringAt(parameters, 'apiGroup');
  return `${stringAt(parameters, 'kind')}${group ? `.${group}` : ''}/${stringAt(parameters, 'name')}`;
};

const COLUMNS: readonly Column[] = [
  NAME,
  column('Controller', stringCell('spec.controller')),
  column('Parameters', classParameters),
  AGE,
];

/** IngressClass. Its controller is immutable. */
export const ingressClass = builtInKind('networking.orchestrator.io/ingressclasses', () => ({
  hasGeneration: true,
  validateUpdate: (object, old) =>
    validateImmutable(recordAt(object, 'spec'), recordAt(old, 'spec'), 'controller', 'spec.controller'),
  applyDefaults: object => {
    const parameters = recordAt(object, 'spec', 'parameters');
    if (parameters) setDefault(parameters, 'scope', 'Cluster');
  },
  columns: COLUMNS,
}));
