import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { stringAt } from '../../../core/model/record.js';
import { column, NAME, stringCell } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [NAME, column('SignerName', stringCell('spec.signerName', '<none>'))];

/** ClusterTrustBundle. */
export const clusterTrustBundle = builtInKind('certificates.orchestrator.io/clustertrustbundles', () => ({
  selectableFields: new Map([['spec.signerName', object => stringAt(object, 'spec', 'signerName')]]),
  columns: COLUMNS,
}));
