/** The built-in controllers. */
export { authenticationObjects } from './authenticationObjects.js';
export { bootstrapSigner, tokenCleaner } from './bootstrapTokens.js';
export { certificateApproval, certificateCleaner, certificateSigning } from './certificates/index.js';
export { garbageCollector } from './garbageCollector.js';
export { defaultAccounts, rootCaPublisher, type NamespaceDefaultsConfig } from './namespaceDefaults.js';
export { namespaceDeletion } from './namespaces.js';
export { legacyTokenCleaner } from './legacyTokenCleaner.js';
export { ownService } from './ownService.js';
export { rbacBootstrap, roleAggregation } from './rbac.js';
export { serviceAccountTokens } from './serviceAccountTokens.js';
export { systemNamespaces } from './systemNamespaces.js';
export { systemObjects } from './systemObjects.js';
export { claimProtection, volumeProtection } from './volumeProtection.js';
