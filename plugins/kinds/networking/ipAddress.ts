import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { stringAt, valueAt } from '../../../core/model/record.js';
import { type Cell, column, NAME } from '../shared/columns.js';

const parentRef: Cell = object => {
  const parent = valueAt(object, 'spec', 'parentRef');
  if (parent === undefined || parent === null) return '';
  const group = stringAt(parent, 'group');
  const namespace = stringAt(parent, 'namespace');
  return `${stringAt(parent, 'resource')}${group ? `.${group}` : ''}/${namespace ? `${namespace}/` : ''}${stringAt(parent, 'name')}`;
};

const COLUMNS: readonly Column[] = [NAME, column('ParentRef', parentRef)];

/** IPAddress. */
export const ipAddress = builtInKind('networking.orchestrator.io/ipaddresses', () => ({ columns: COLUMNS }));
