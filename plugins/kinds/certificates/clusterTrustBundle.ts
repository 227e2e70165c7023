import type { ClusterTrustBundle } from '../../../kinds/certificates/v1alpha1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { column, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column<ClusterTrustBundle>[] = [
  NAME,
  column('SignerName', object => object.spec.signerName || '<none>'),
];

/** ClusterTrustBundle. */
export const clusterTrustBundle = builtInKind<ClusterTrustBundle>(
  'certificates.orchestrator.io/clustertrustbundles',
  () => ({
    selectableFields: new Map([['spec.signerName', object => object.spec.signerName ?? '']]),
    columns: COLUMNS,
  }),
);
