import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { recordsAt, stringAt, valueAt } from '../../../core/model/record.js';
import { type Cell, column, NAME } from '../shared/columns.js';

const healthy =
  (name: string): Cell =>
  (component: unknown) =>
    stringAt(
      recordsAt(component, 'conditions').find(entry => valueAt(entry, 'type') === 'Healthy'),
      name,
    );

const healthStatus: Cell = (component, now) => {
  const status = healthy('status')(component, now);
  if (status === '') return 'Unknown';
  return status === 'True' ? 'Healthy' : 'Unhealthy';
};

const COLUMNS: readonly Column[] = [
  NAME,
  column('Status', healthStatus),
  column('Message', healthy('message')),
  column('Error', healthy('error')),
];

export const componentStatus = builtInKind('core/componentstatuses', () => ({ columns: COLUMNS }));
