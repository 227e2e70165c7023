import type { ClusterRoleBinding } from '../../../kinds/rbac/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { bindingStrategy } from './roleBinding.js';

/** ClusterRoleBinding. */
export const clusterRoleBinding = builtInKind<ClusterRoleBinding>(
  'rbac.authorization.orchestrator.io/clusterrolebindings',
  naming => bindingStrategy(false, naming),
);
