/** The built-in controllers. */
export type { ControlledResource, ResourcesConfig } from './catalog.js';
export { garbageCollector } from './garbageCollector.js';
export { namespaceDefaults, type NamespaceDefaultsConfig } from './namespaceDefaults.js';
export { namespaceDeletion } from './namespaces.js';
export { ownService } from './ownService.js';
export { rbacBootstrap, roleAggregation } from './rbac.js';
export { systemNamespaces } from './systemNamespaces.js';
export { systemObjects } from './systemObjects.js';
export { volumeProtection } from './volumeProtection.js';
