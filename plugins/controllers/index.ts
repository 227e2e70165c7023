/** The built-in controllers. */
export { authenticationObjects } from './accounts/authenticationObjects.js';
export { bootstrapSigner, tokenCleaner } from './accounts/bootstrapTokens.js';
export { certificateApproval, certificateCleaner, certificateSigning } from './certificates/index.js';
export { garbageCollector } from './deletion/garbageCollector.js';
export { defaultAccounts, rootCaPublisher, type NamespaceDefaultsConfig } from './system/namespaceDefaults.js';
export { namespaceDeletion } from './deletion/namespaces.js';
export { legacyTokenCleaner } from './accounts/legacyTokenCleaner.js';
export { ownService } from './system/ownService.js';
export { rbacBootstrap, roleAggregation } from './accounts/rbac.js';
export { serviceAccountTokens } from './accounts/serviceAccountTokens.js';
export { systemNamespaces } from './system/systemNamespaces.js';
export { systemObjects } from './system/systemObjects.js';
export { claimProtection, volumeProtection } from './deletion/volumeProtection.js';
