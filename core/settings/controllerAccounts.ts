/**
 * Service accounts of controllers with a default role of their own. With `--use-service-account-credentials` these
 * controllers have the permissions of that role and no others. The remaining controllers are parts of the server.
 */
const ACCOUNTS: ReadonlySet<string> = new Set([
  'bootstrap-signer',
  'certificate-controller',
  'clusterrole-aggregation-controller',
  'generic-garbage-collector',
  'legacy-service-account-token-cleaner',
  'namespace-controller',
  'pv-protection-controller',
  'pvc-protection-controller',
  'root-ca-cert-publisher',
  'service-account-controller',
  'storage-version-garbage-collector',
  'token-cleaner',
  'validatingadmissionpolicy-status-controller',
]);

/** Whether a controller has a service account with a default role. */
export const hasOwnRole = (controller: string): boolean => ACCOUNTS.has(controller);
