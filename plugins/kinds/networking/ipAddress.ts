import type { IPAddress } from '../../../kinds/networking/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { type Cell, column, NAME } from '../shared/columns.js';

const parentRef: Cell<IPAddress> = object => {
  const parent = object.spec.parentRef;
  if (parent === undefined || parent === null) return '';
  const group = parent.group ?? '';
  const namespace = parent.namespace ?? '';
  return `${parent.resource ?? ''}${group ? `.${group}` : ''}/${namespace ? `${namespace}/` : ''}${parent.name ?? ''}`;
};

const COLUMNS: readonly Column<IPAddress>[] = [NAME, column('ParentRef', parentRef)];

/** IPAddress. */
export const ipAddress = builtInKind<IPAddress>('networking.orchestrator.io/ipaddresses', () => ({ columns: COLUMNS }));
