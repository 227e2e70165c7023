import type { TextMember } from '../shared/values/members.js';
import type { ComponentCondition, ComponentStatus } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { type Cell, column, NAME } from '../shared/columns.js';

/** The cell with the member `name` of the condition Healthy. */
const healthCell =
  (name: TextMember<ComponentCondition>): Cell<ComponentStatus> =>
  component =>
    component.conditions?.find(entry => entry.type === 'Healthy')?.[name] ?? '';

const healthStatus: Cell<ComponentStatus> = component => {
  const status = healthCell('status')(component);
  if (status === '') return 'Unknown';
  return status === 'True' ? 'Healthy' : 'Unhealthy';
};

const COLUMNS: readonly Column<ComponentStatus>[] = [
  NAME,
  column('Status', healthStatus),
  column('Message', healthCell('message')),
  column('Error', healthCell('error')),
];

/** ComponentStatus, which can only be read; this server has none. */
export const componentStatus = builtInKind<ComponentStatus>('core/componentstatuses', () => ({ columns: COLUMNS }));
