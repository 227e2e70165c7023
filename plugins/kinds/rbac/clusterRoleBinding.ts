import { builtInKind } from '../../../core/api/resource.js';
import { bindingStrategy } from './roleBinding.js';

/** ClusterRoleBinding. */
export const clusterRoleBinding = builtInKind('rbac.authorization.orchestrator.io/clusterrolebindings', naming =>
  bindingStrategy(false, naming),
);
