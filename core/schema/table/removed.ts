/** A kind in a version that a release has removed. */
export interface RemovedVersion {
  /** The release that does not serve it any more: `1.22`. */
  readonly release: string;
  /** The neutral apiVersion. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The neutral apiVersion that replaces it now; undefined for a kind that no longer exists. */
  readonly replacement: string | undefined;
}

/**
 * The removed versions (spec, "Removed API versions"): release, apiVersion, the apiVersion or the version of
 * the same group that replaces it now, or `-`, and kinds. `+` stands for the domain.
 */
const REMOVED = `
1.32 flowcontrol.apiserver+/v1beta3 v1 FlowSchema PriorityLevelConfiguration
1.29 flowcontrol.apiserver+/v1beta2 v1 FlowSchema PriorityLevelConfiguration
1.27 storage+/v1beta1 v1 CSIStorageCapacity
1.26 flowcontrol.apiserver+/v1beta1 v1 FlowSchema PriorityLevelConfiguration
1.26 autoscaling/v2beta2 v2 HorizontalPodAutoscaler
1.25 batch/v1beta1 v1 CronJob
1.25 discovery+/v1beta1 v1 EndpointSlice
1.25 events+/v1beta1 v1 Event
1.25 autoscaling/v2beta1 v2 HorizontalPodAutoscaler
1.25 policy/v1beta1 v1 PodDisruptionBudget
1.25 policy/v1beta1 - PodSecurityPolicy
1.25 node+/v1beta1 v1 RuntimeClass
1.22 admissionregistration+/v1beta1 v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
1.22 apiextensions+/v1beta1 v1 CustomResourceDefinition
1.22 apiregistration+/v1beta1 v1 APIService
1.22 authentication+/v1beta1 v1 TokenReview
1.22 authorization+/v1beta1 v1 LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview SelfSubjectRulesReview
1.22 certificates+/v1beta1 v1 CertificateSigningRequest
1.22 coordination+/v1beta1 v1 Lease
1.22 extensions/v1beta1 networking+/v1 Ingress
1.22 networking+/v1beta1 v1 Ingress IngressClass
1.22 rbac.authorization+/v1beta1 v1 ClusterRole ClusterRoleBinding Role RoleBinding
1.22 scheduling+/v1beta1 v1 PriorityClass
1.22 storage+/v1beta1 v1 CSIDriver CSINode StorageClass VolumeAttachment
1.16 extensions/v1beta1 networking+/v1 NetworkPolicy
1.16 extensions/v1beta1 apps/v1 DaemonSet Deployment ReplicaSet
1.16 apps/v1beta2 v1 DaemonSet Deployment StatefulSet ReplicaSet
1.16 apps/v1beta1 v1 Deployment StatefulSet ReplicaSet
1.16 extensions/v1beta1 - PodSecurityPolicy
`;

const withDomain = (name: string): string => name.replace('+', '.orchestrator.io');

function replacementOf(text: string, apiVersion: string): string | undefined {
  if (text === '-') return undefined;
  return text.includes('/') ? withDomain(text) : `${apiVersion.slice(0, apiVersion.indexOf('/'))}/${text}`;
}

/** All removed versions of the table, one entry for each kind. */
export const REMOVED_VERSIONS: readonly RemovedVersion[] = REMOVED.trim()
  .split('\n')
  .flatMap(line => {
    const [release = '', name = '', replacement = '', ...kinds] = line.split(' ');
    const apiVersion = withDomain(name);
    return kinds.map(kind => ({ release, apiVersion, kind, replacement: replacementOf(replacement, apiVersion) }));
  });
