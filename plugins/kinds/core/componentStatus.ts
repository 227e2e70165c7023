import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { recordsAt, stringAt, valueAt } from '../../../core/model/record.js';
import { type Cell, column, NAME } from '../shared/columns.js';

/** The cell with the member `name` of the condition Healthy. */
const healthCell =
  (name: string): Cell =>
  (component: unknown) =>
    stringAt(
      recordsAt(component, 'conditions').find(entry => valueAt(entry, 'type') === 'Healthy'),
      name,
    );

const healthStatus: Cell = component => {
  const status = healthCell('status')(component);
  if (status === '') return 'Unknown';
  return status === 'True' ? 'Healthy' : 'Unhealthy';
};

const COLUMNS: readonly Column[] = [
  NAME,
  column('Status', healthStatus),
  column('Message', healthCell('message')),
  column('Error', healthCell('error')),
];

/** ComponentStatus, which can only be read; this server has none. */
export const componentStatus = builtInKind('core/componentstatuses', () => ({ columns: COLUMNS }));
