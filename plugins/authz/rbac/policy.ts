/**
 * Kinds of the RBAC group as the evaluation reads them (spec, "RBAC objects"). Groups are in the naming of the server.
 */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** A subject of a binding. */
export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

/** The role that a binding grants. */
export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

/** The API group of the kinds, in neutral names. */
export const GROUP = 'rbac.authorization.orchestrator.io';
/** Storage names of the four kinds, in neutral names. */
export const STORED = {
  roles: `${GROUP}/roles`,
  clusterRoles: `${GROUP}/clusterroles`,
  roleBindings: `${GROUP}/rolebindings`,
  clusterRoleBindings: `${GROUP}/clusterrolebindings`,
} as const;
